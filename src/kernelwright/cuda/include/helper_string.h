// Command-line helpers under the names that CUDA's sample programs use. Our own code.
#pragma once
#pragma GCC system_header

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <string>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#define STRCASECMP strcasecmp
#define STRNCASECMP strncasecmp
#define STRCPY(to, bytes, from) strcpy(to, from)
#define FOPEN(handle, name, mode) (handle = fopen(name, mode))
#define FOPEN_FAIL(result) (result == NULL)
#define SSCANF sscanf
#define SPRINTF sprintf

// Of "--name=value", "-name=value" or "name=value": the value, "" where there is none, null where the name differs.
static inline const char *kw_option_value(const char *argument, const char *name) {
    while (*argument == '-') argument++;
    size_t length = strlen(name);
    if (strncasecmp(argument, name, length) != 0) return NULL;
    if (argument[length] == '=') return argument + length + 1;
    return argument[length] == '\0' ? argument + length : NULL;
}
static inline const char *kw_find_option(int argc, const char **argv, const char *name) {
    for (int i = 1; i < argc; i++)
        if (const char *value = kw_option_value(argv[i], name)) return value;
    return NULL;
}

static inline int stringRemoveDelimiter(char delimiter, const char *text) {
    int i = 0;
    while (text[i] == delimiter) i++;
    return i;
}
static inline bool checkCmdLineFlag(int argc, const char **argv, const char *name) {
    return kw_find_option(argc, argv, name) != NULL;
}
static inline int getCmdLineArgumentInt(int argc, const char **argv, const char *name) {
    const char *value = kw_find_option(argc, argv, name);
    return value ? atoi(value) : 0;
}
static inline float getCmdLineArgumentFloat(int argc, const char **argv, const char *name) {
    const char *value = kw_find_option(argc, argv, name);
    return value ? (float)atof(value) : 0.0f;
}
static inline bool getCmdLineArgumentString(int argc, const char **argv, const char *name, char **result) {
    const char *value = kw_find_option(argc, argv, name);
    *result = (char *)value;
    return value != NULL;
}
template <class T>
static inline bool getCmdLineArgumentValue(int argc, const char **argv, const char *name, T *result) {
    const char *value = kw_find_option(argc, argv, name);
    if (value) *result = (T)atof(value);
    return value != NULL;
}

// The path of a data file: as given, in ./data, or beside the executable. Null where it is in none; the caller frees.
static inline char *sdkFindFilePath(const char *name, const char *executable) {
    std::string folder = executable ? executable : "";
    size_t slash = folder.rfind('/');
    folder = slash == std::string::npos ? "" : folder.substr(0, slash + 1);
    const std::string candidates[] = {name, std::string("data/") + name, folder + name, folder + "data/" + name};
    for (const std::string &path : candidates)
        if (FILE *file = fopen(path.c_str(), "rb")) {
            fclose(file);
            return strdup(path.c_str());
        }
    return NULL;
}
