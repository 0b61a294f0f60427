// serve.c - one page over HTTP/1.1 on the loopback interface, one request at a time.
//
// GET and HEAD of / by a Host that is this address are answered; other hosts get 403 (a name that was bent
// to point here is not ours), other paths 404, other methods 405, everything else 400. A client has five
// seconds. Fails: no socket, or none free.
#include "serve.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define REQUEST  8192  // bytes of a request's head
#define PATIENCE 5     // seconds for a client

// set by Ctrl-C; a signal handler can reach nothing else
static volatile sig_atomic_t stop_asked;

static void ask_stop(int signal) {
    (void)signal;
    stop_asked = 1;
}

static int open_socket(int* port) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0) return -1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr*)&address, size) != 0 || listen(listener, 8) != 0 ||
        getsockname(listener, (struct sockaddr*)&address, &size) != 0) {
        close(listener);
        return -1;
    }
    *port = ntohs(address.sin_port);
    return listener;
}

static bool send_all(int client, const char* bytes, size_t size) {
    while (size > 0) {
        ssize_t sent = send(client, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

static void refuse(int client, const char* status) {
    char text[256];
    int length = snprintf(text, sizeof text,
                          "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                          "Connection: close\r\n\r\n%s\n",
                          status, strlen(status) + 1, status);
    send_all(client, text, (size_t)length);
}

// the head of a request, NUL-terminated; false where it does not come, or is too long
static bool read_head(int client, char head[REQUEST]) {
    size_t used = 0;
    while (used < REQUEST - 1) {
        ssize_t got = recv(client, head + used, REQUEST - 1 - used, 0);
        if (got <= 0) return false;
        used += (size_t)got;
        head[used] = '\0';
        if (strlen(head) < used) return false;
        if (strstr(head, "\r\n\r\n") != NULL) return true;
    }
    return false;
}

static bool starts(const char* text, const char* lower) {
    for (; *lower != '\0'; text++, lower++) {
        char c = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
        if (c != *lower) return false;
    }
    return true;
}

// Host: 127.0.0.1:PORT or localhost:PORT, once
static bool is_own_host(const char* head, int port) {
    char names[2][32];
    snprintf(names[0], sizeof names[0], "127.0.0.1:%d\r\n", port);
    snprintf(names[1], sizeof names[1], "localhost:%d\r\n", port);
    int hosts = 0;
    bool own = false;
    for (const char* line = strstr(head, "\r\n"); line != NULL && line[2] != '\r';
         line = strstr(line + 2, "\r\n")) {
        if (!starts(line + 2, "host:")) continue;
        const char* value = line + 7 + strspn(line + 7, " \t");
        hosts++;
        own = starts(value, names[0]) || starts(value, names[1]);
    }
    return hosts == 1 && own;
}

static void answer(int client, int port, const char* page, size_t size) {
    char head[REQUEST];
    if (!read_head(client, head)) {
        refuse(client, "400 Bad Request");
        return;
    }
    bool get = strncmp(head, "GET ", 4) == 0;
    bool only_head = strncmp(head, "HEAD ", 5) == 0;
    const char* path = head + (get ? 4 : 5);
    if (!get && !only_head) {
        refuse(client, "405 Method Not Allowed");
    } else if (!is_own_host(head, port)) {
        refuse(client, "403 Forbidden");
    } else if (strncmp(path, "/ HTTP/1.", 9) != 0) {
        refuse(client, "404 Not Found");
    } else {
        char text[256];
        int length =
            snprintf(text, sizeof text,
                     "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n"
                     "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                     "Connection: close\r\n\r\n",
                     size);
        if (send_all(client, text, (size_t)length) && get) send_all(client, page, size);
    }
}

bool serve_page(const char* page, size_t size, void (*ready)(const char* address)) {
    int port = 0;
    int listener = open_socket(&port);
    if (listener < 0) return false;
    // accept is to be interrupted: no restart
    struct sigaction stop = {.sa_handler = ask_stop};
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    char address[64];
    snprintf(address, sizeof address, "http://127.0.0.1:%d/", port);
    ready(address);
    while (stop_asked == 0) {
        int client = accept(listener, NULL, NULL);
        if (client < 0) continue;
        struct timeval patience = {.tv_sec = PATIENCE};
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        answer(client, port, page, size);
        close(client);
    }
    close(listener);
    return true;
}
