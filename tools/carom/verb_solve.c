int verb_solve(int count, char** arguments);
int verb_solve(int count, char** arguments) {
    (void)count;
    (void)arguments;
    return 0;
}
