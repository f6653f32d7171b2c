/* A disk that fails: the n-th call that touches a file below a directory gives EIO.
 *
 * Preloaded into a child; eio_at(n, "/directory") arms it, eio_fired() tells what failed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static char below[PATH_MAX];
static int left = 0;
static const char *fired = "";

void eio_at(int n, const char *directory)
{
    left = 0;
    fired = "";
    snprintf(below, sizeof below, "%s", directory);
    left = n;
}

const char *eio_fired(void) { left = 0; return fired; }

static int hit(const char *path, const char *call)
{
    if (strncmp(path, below, strlen(below)) != 0 || --left != 0) return 0;
    fired = call;
    errno = EIO;
    return 1;
}

static int hit_descriptor(int fd, const char *call)
{
    char name[64], path[PATH_MAX];
    ssize_t size;
    if (left == 0) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    size = readlink(name, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return hit(path, call);
}

static int hit_at(int directory, const char *path, const char *call)
{
    if (left == 0) return 0;
    if (path[0] == '/' || directory == AT_FDCWD) return hit(path, call);
    return hit_descriptor(directory, call);
}

#define REAL(result, name, ...) \
    static result (*real)(__VA_ARGS__); \
    if (!real) real = (result (*)(__VA_ARGS__)) dlsym(RTLD_NEXT, name)

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        REAL(int, #name, const char *, int, ...); \
        return hit_at(AT_FDCWD, path, #name) ? -1 : real(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int directory, const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        REAL(int, #name, int, const char *, int, ...); \
        return hit_at(directory, path, #name) ? -1 : real(directory, path, flags, mode); \
    }
OPENAT(openat)
OPENAT(openat64)

DIR *opendir(const char *path)
{
    REAL(DIR *, "opendir", const char *);
    return hit(path, "opendir") ? NULL : real(path);
}

DIR *fdopendir(int fd)
{
    REAL(DIR *, "fdopendir", int);
    return hit_descriptor(fd, "fdopendir") ? NULL : real(fd);
}

struct dirent64 *readdir64(DIR *directory)
{
    REAL(struct dirent64 *, "readdir64", DIR *);
    return hit_descriptor(dirfd(directory), "readdir") ? NULL : real(directory);
}

ssize_t read(int fd, void *data, size_t size)
{
    REAL(ssize_t, "read", int, void *, size_t);
    return hit_descriptor(fd, "read") ? -1 : real(fd, data, size);
}

ssize_t write(int fd, const void *data, size_t size)
{
    REAL(ssize_t, "write", int, const void *, size_t);
    if (hit_descriptor(fd, "write")) {  /* some of it gets there */
        real(fd, data, size / 2);
        errno = EIO;
        return -1;
    }
    return real(fd, data, size);
}

int ftruncate64(int fd, off_t size)
{
    REAL(int, "ftruncate64", int, off_t);
    return hit_descriptor(fd, "ftruncate") ? -1 : real(fd, size);
}

int fchmod(int fd, mode_t mode)
{
    REAL(int, "fchmod", int, mode_t);
    return hit_descriptor(fd, "fchmod") ? -1 : real(fd, mode);
}

ssize_t flistxattr(int fd, char *list, size_t size)
{
    REAL(ssize_t, "flistxattr", int, char *, size_t);
    return hit_descriptor(fd, "flistxattr") ? -1 : real(fd, list, size);
}

int renameat(int from, const char *old, int to, const char *new)
{
    REAL(int, "renameat", int, const char *, int, const char *);
    return hit_at(from, old, "renameat") ? -1 : real(from, old, to, new);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    REAL(int, "linkat", int, const char *, int, const char *, int);
    return hit_at(from, old, "linkat") ? -1 : real(from, old, to, new, flags);
}

int unlinkat(int directory, const char *path, int flags)
{
    REAL(int, "unlinkat", int, const char *, int);
    return hit_at(directory, path, "unlinkat") ? -1 : real(directory, path, flags);
}

int mkdirat(int directory, const char *path, mode_t mode)
{
    REAL(int, "mkdirat", int, const char *, mode_t);
    return hit_at(directory, path, "mkdirat") ? -1 : real(directory, path, mode);
}
