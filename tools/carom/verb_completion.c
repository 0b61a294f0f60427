// verb_completion.c - carom completion: a script by which a shell completes carom's words.
//
// Verbs, options and names come from the command's own tables: verbs, their help, the catalogues, the examples.
#include <string.h>

#include "carom/carom.h"
#include "command.h"
#include "examples.h"
#include "io/names.h"
#include "options.h"

static void print_help(void) {
    puts(
        "usage: carom completion bash|zsh|fish\n"
        "\n"
        "Prints a script by which the shell completes verbs, options, and the names of scenes, laws, rules,\n"
        "methods and solvers. An installed carom has put these scripts where shells look.\n"
        "\n"
        "examples:\n"
        "  eval \"$(carom completion bash)\"                      # this shell; in ~/.bashrc every one\n"
        "  carom completion zsh > ~/.zfunc/_carom               # with fpath+=~/.zfunc before compinit\n"
        "  carom completion fish > ~/.config/fish/completions/carom.fish");
}

static void put_laws(void) {
    for (int i = 0; i < cr_law_count(); i++) {
        printf(" %s", cr_law_info(i)->name);
    }
}

static void put_rules(void) {
    for (int i = 0; i < cr_rule_count(); i++) {
        printf(" %s", cr_rule_info(i)->name);
    }
}

static void put_methods(void) {
    for (int i = 0; cr_method_name((crMethod)i) != NULL; i++) {
        printf(" %s", cr_method_name((crMethod)i));
    }
}

static void put_solvers(void) {
    for (int i = 0; i < cr_solver_count(); i++) {
        printf(" %s", cr_solver_name(i));
    }
}

static void put_qualities(void) {
    for (int i = 0; cr_quality_name((crQuality)i) != NULL; i++) {
        printf(" %s", cr_quality_name((crQuality)i));
    }
}

static void put_plots(void) {
    for (int i = 0; plot_kind(i) != NULL; i++) {
        printf(" %s", plot_kind(i));
    }
}

// options whose values are names of a catalogue
static const struct {
    const char* option;
    void (*put)(void);
} valued[] = {{"--law", put_laws},       {"--laws", put_laws},      {"--rule", put_rules},
              {"--method", put_methods}, {"--solver", put_solvers}, {"--quality", put_qualities},
              {"--what", put_plots}};
enum { VALUED = sizeof valued / sizeof valued[0] };

// names of the examples that a verb reads; the scenes for every verb on scenes
static void put_examples(const char* verb) {
    for (const crExample* e = cr_examples; e->name != NULL; e++) {
        bool second = false;
        for (const crExample* before = cr_examples; before != e && verb == NULL; before++) {
            second = second || strcmp(before->name, e->name) == 0;
        }
        if (verb == NULL ? !second : strcmp(e->verb, verb) == 0) printf(" %s", e->name);
    }
}

static bool takes_scene(const char* verb) {
    static const char* const verbs[] = {"run", "compare", "converge", "spread", "view", "export", "info"};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(verb, verbs[i]) == 0) return true;
    }
    return false;
}

// what may stand where no option does
static void put_words(const char* verb) {
    if (takes_scene(verb)) {
        put_examples("run");
    } else if (strcmp(verb, "examples") == 0) {
        put_examples(NULL);
    } else if (strcmp(verb, "laws") == 0) {
        put_laws();
    } else if (strcmp(verb, "fit") == 0) {
        fputs(" impacts motion", stdout);
    } else if (strcmp(verb, "completion") == 0) {
        fputs(" bash zsh fish", stdout);
    } else if (strcmp(verb, "help") == 0) {
        for (int i = 0; verb_at(i) != NULL; i++) {
            printf(" %s", verb_at(i));
        }
    }
}

static void put_options(const char* verb) {
    Option options[OPTION_MOST];
    int count = options_of(verb, options);
    for (int i = 0; i < count; i++) {
        printf(" %s", options[i].name);
    }
    fputs(" --help", stdout);
}

// the same function for bash and zsh: words is what can stand here, nothing where a file does
static void put_cases(void) {
    puts("    case $verb in");
    for (int i = 0; verb_at(i) != NULL; i++) {
        printf("    %s)\n        options='", verb_at(i));
        put_options(verb_at(i));
        fputs("'\n        names='", stdout);
        put_words(verb_at(i));
        puts("'\n        ;;");
    }
    fputs("    help) names='", stdout);
    put_words("help");
    puts("' ;;\n    esac\n    case $before in");
    for (int i = 0; i < VALUED; i++) {
        printf("    %s) values='", valued[i].option);
        valued[i].put();
        puts("' ;;");
    }
    puts("    esac");
}

static void put_verbs(void) {
    put_words("help");
    fputs(" help --help --version", stdout);
}

static void put_bash(void) {
    puts("# bash completion of carom; made by carom completion bash\n"
         "_carom() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}\n"
         "    local options= names= values= words=");
    put_cases();
    fputs("    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='", stdout);
    put_verbs();
    puts("'\n"
         "    elif [ -n \"$values\" ]; then\n"
         "        words=$values\n"
         "    elif [ \"${word#-}\" != \"$word\" ]; then\n"
         "        words=$options\n"
         "    else\n"
         "        words=$names\n"
         "    fi\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -o default -F _carom carom");
}

static void put_zsh(void) {
    puts("#compdef carom\n"
         "# zsh completion of carom; made by carom completion zsh\n"
         "_carom() {\n"
         "    local word=${words[CURRENT]} before=${words[CURRENT-1]} verb=${words[2]}\n"
         "    local options= names= values=");
    put_cases();
    fputs("    if (( CURRENT == 2 )); then\n        compadd -- ${=:-", stdout);
    put_verbs();
    puts("}\n"
         "    elif [[ -n $values ]]; then\n"
         "        compadd -- ${=values}\n"
         "    elif [[ $word == -* ]]; then\n"
         "        compadd -- ${=options}\n"
         "    else\n"
         "        [[ -z $names ]] || compadd -- ${=names}\n"
         "        _files\n"
         "    fi\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _carom ]; then _carom \"$@\"; else compdef _carom carom; fi");
}

static void put_fish(void) {
    puts("# fish completion of carom; made by carom completion fish");
    for (int i = 0; verb_at(i) != NULL; i++) {
        const char* verb = verb_at(i);
        Option options[OPTION_MOST];
        int count = options_of(verb, options);
        printf("complete -c carom -n __fish_use_subcommand -f -a %s -d '", verb);
        for (const char* c = verb_summary(i); *c != '\0'; c++) {
            fputs(*c == '\'' ? "\\'" : (char[]){*c, '\0'}, stdout);
        }
        puts("'");
        for (int k = 0; k < count; k++) {
            bool is_short = options[k].name[1] != '-';
            printf("complete -c carom -n '__fish_seen_subcommand_from %s' -%s %s%s\n", verb,
                   is_short ? "s" : "l", options[k].name + (is_short ? 1 : 2),
                   options[k].value[0] != '\0' ? " -r" : "");
        }
        printf("complete -c carom -n '__fish_seen_subcommand_from %s' -a '", verb);
        put_words(verb);
        puts("'");
    }
    fputs("complete -c carom -n '__fish_seen_subcommand_from help' -f -a '", stdout);
    put_words("help");
    puts("'");
    for (int i = 0; i < VALUED; i++) {
        printf("complete -c carom -l %s -x -a '", valued[i].option + 2);
        valued[i].put();
        puts("'");
    }
}

int verb_completion(int count, char** arguments) {
    static const struct {
        const char* shell;
        void (*put)(void);
    } shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
    if (count > 0 && asks_help(arguments[0])) {
        print_help();
        return EXIT_GOOD;
    }
    if (count > 0 && arguments[0][0] == '-') return unknown_option("completion", arguments[0]);
    if (count != 1) return usage_error("completion", "for which shell? bash, zsh or fish");
    for (int i = 0; i < 3; i++) {
        if (strcmp(arguments[0], shells[i].shell) != 0) continue;
        shells[i].put();
        return EXIT_GOOD;
    }
    return usage_error("completion", "no script for '%s', there is one for bash, zsh and fish", arguments[0]);
}
