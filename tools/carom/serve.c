// serve.c - one page over HTTP/1.1 on the loopback interface, several clients at once.
//
// GET and HEAD of / by a Host that is this address are answered; other hosts get 403 (a name that was bent
// to point here is not ours), other paths 404, other methods 405, everything else 400. One loop polls all
// sockets, none of which blocks. A client has a limited time from its connection to the last byte of its
// answer, however slowly it sends or reads. Clients beyond CLIENTS wait in the system's queue until one ends.
// Fails: no socket, or no free port.
#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "progress.h"

#define CLIENTS 32
#define REQUEST 8192  // bytes of a request's head
#define ANSWER  256   // bytes of an answer's head
#define TICK    500   // ms, the longest wait: a signal may come just before it

typedef struct Page {
    int port;
    const char* text;
    size_t size;
    double patience;  // seconds for a client
} Page;

typedef struct Client {
    int socket;
    double deadline;  // s, as seconds_now
    bool answering;   // true once the request is read
    bool drained;     // true once the answer is sent: the rest of the request is read and dropped
    size_t used;      // bytes read into head
    char head[REQUEST];
    char answer[ANSWER];
    size_t answer_size;
    size_t page_size;  // bytes of the page that follow the answer's head
    size_t sent;       // bytes of both
} Client;

// Makes calls return at once, and keeps the socket from programs that are started later, such as the browser.
static bool set_up(int socket) {
    int flags = fcntl(socket, F_GETFL);
    return flags >= 0 && fcntl(socket, F_SETFL, flags | O_NONBLOCK) == 0 &&
           fcntl(socket, F_SETFD, FD_CLOEXEC) == 0;
}

static int open_socket(int* port) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0) return -1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (!set_up(listener) || bind(listener, (struct sockaddr*)&address, size) != 0 ||
        listen(listener, CLIENTS) != 0 || getsockname(listener, (struct sockaddr*)&address, &size) != 0) {
        close(listener);
        return -1;
    }
    *port = ntohs(address.sin_port);
    return listener;
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

static void refuse(Client* client, const char* status) {
    int length = snprintf(client->answer, ANSWER,
                          "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                          "Connection: close\r\n\r\n%s\n",
                          status, strlen(status) + 1, status);
    client->answer_size = (size_t)length;
    client->answering = true;
}

static void answer(Client* client, const Page* page) {
    const char* head = client->head;
    bool get = strncmp(head, "GET ", 4) == 0;
    bool only_head = strncmp(head, "HEAD ", 5) == 0;
    const char* path = head + (get ? 4 : 5);
    if (!get && !only_head) {
        refuse(client, "405 Method Not Allowed");
        return;
    }
    if (!is_own_host(head, page->port)) {
        refuse(client, "403 Forbidden");
        return;
    }
    if (strncmp(path, "/ HTTP/1.", 9) != 0) {
        refuse(client, "404 Not Found");
        return;
    }
    int length =
        snprintf(client->answer, ANSWER,
                 "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n"
                 "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
                 page->size);
    client->answer_size = (size_t)length;
    client->page_size = get ? page->size : 0;
    client->answering = true;
}

// true if a call on a socket that does not block is to be tried again later
static bool is_later(ssize_t result) {
    return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

// reads what has come; false where the client is gone
static bool read_request(Client* client, const Page* page) {
    ssize_t got = recv(client->socket, client->head + client->used, REQUEST - 1 - client->used, 0);
    if (is_later(got)) return true;
    if (got < 0) return false;
    client->used += (size_t)got;
    client->head[client->used] = '\0';
    bool whole = strlen(client->head) == client->used && strstr(client->head, "\r\n\r\n") != NULL;
    if (whole) {
        answer(client, page);
    } else if (got == 0 || strlen(client->head) < client->used || client->used == REQUEST - 1) {
        refuse(client, "400 Bad Request");
    }
    return true;
}

// sends what the socket takes; false where the client is gone
static bool send_answer(Client* client, const Page* page) {
    bool of_page = client->sent >= client->answer_size;
    size_t at = of_page ? client->sent - client->answer_size : client->sent;
    const char* from = of_page ? page->text : client->answer;
    size_t size = of_page ? client->page_size : client->answer_size;
    ssize_t sent = send(client->socket, from + at, size - at, MSG_NOSIGNAL);
    if (is_later(sent)) return true;
    if (sent <= 0) return false;
    client->sent += (size_t)sent;
    if (client->sent < client->answer_size + client->page_size) return true;
    // a socket that is closed while bytes of a request are unread drops the answer too
    client->drained = true;
    return shutdown(client->socket, SHUT_WR) == 0;
}

static bool drain(Client* client) {
    ssize_t got = recv(client->socket, client->head, REQUEST - 1, 0);
    return is_later(got) || got > 0;
}

static bool serve_client(Client* client, const Page* page) {
    if (client->drained) return drain(client);
    return client->answering ? send_answer(client, page) : read_request(client, page);
}

static void accept_client(int listener, const Page* page, Client* clients, int* count) {
    int socket = accept(listener, NULL, NULL);
    if (socket < 0) return;
    if (!set_up(socket)) {
        close(socket);
        return;
    }
    Client* client = &clients[(*count)++];
    *client = (Client){.socket = socket, .deadline = seconds_now() + page->patience};
}

// one wait and all that came of it; clients that are done leave the list
static void turn(int listener, const Page* page, Client* clients, int* count) {
    struct pollfd polled[CLIENTS + 1];
    int asked = *count;
    for (int i = 0; i < asked; i++) {
        bool writes = clients[i].answering && !clients[i].drained;
        polled[i] = (struct pollfd){.fd = clients[i].socket, .events = writes ? POLLOUT : POLLIN};
    }
    // a negative socket is not polled
    polled[asked] = (struct pollfd){.fd = asked < CLIENTS ? listener : -1, .events = POLLIN};
    if (poll(polled, (nfds_t)asked + 1, TICK) < 0) return;
    double now = seconds_now();
    int kept = 0;
    for (int i = 0; i < asked; i++) {
        bool good = now < clients[i].deadline;
        if (good && polled[i].revents != 0) good = serve_client(&clients[i], page);
        if (!good) {
            close(clients[i].socket);
        } else if (kept++ < i) {
            clients[kept - 1] = clients[i];
        }
    }
    *count = kept;
    if (polled[asked].revents != 0) accept_client(listener, page, clients, count);
}

bool serve_page(const char* page, size_t size, double patience, void (*ready)(const char* address)) {
    Page served = {.text = page, .size = size, .patience = patience};
    int listener = open_socket(&served.port);
    if (listener < 0) return false;
    StopWatch signals;
    stop_watch(&signals);
    char address[64];
    snprintf(address, sizeof address, "http://127.0.0.1:%d/", served.port);
    ready(address);
    Client clients[CLIENTS];
    int count = 0;
    while (!stop_asked()) {
        turn(listener, &served, clients, &count);
    }
    for (int i = 0; i < count; i++) {
        close(clients[i].socket);
    }
    close(listener);
    stop_unwatch(&signals);
    return true;
}
