/* Faults at defined places, preloaded into a child, and how often they were met.
 *
 * fault_arm(kind, n, "/directory") arms one; fault_met() counts the calls that failed by it:
 *   EIO      the n-th call that touches a file below the directory fails with EIO.
 *   COUNTED  nothing is injected: calls that fail with the errno n are counted, as where a limit
 *            of the system is met.
 * fault_place() tells which call failed first. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pty.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { NONE, EIO_AT, COUNTED };

static char below[PATH_MAX];
static int kind = NONE, left = 0, met = 0;
static const char *place = "";

void fault_arm(int what, int n, const char *directory)
{
    kind = NONE;
    met = 0;
    place = "";
    snprintf(below, sizeof below, "%s", directory);
    left = n;
    kind = what;
}

int fault_met(void) { kind = NONE; return met; }
const char *fault_place(void) { return place; }

static int is_next(void) { return __atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST) == 0; }

static void note(const char *call)
{
    if (met++ == 0) place = call;
}

/* Count a call that failed by a limit; return its result. */
static long counted(long result, const char *call)
{
    if (kind == COUNTED && result == -1 && errno == left) note(call);
    return result;
}

static int hit(const char *path, const char *call)
{
    if (kind != EIO_AT || strncmp(path, below, strlen(below)) != 0 || !is_next()) return 0;
    note(call);
    errno = EIO;
    return 1;
}

static int hit_descriptor(int fd, const char *call)
{
    char name[64], path[PATH_MAX];
    ssize_t size;
    if (kind != EIO_AT) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    size = readlink(name, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return hit(path, call);
}

static int hit_at(int directory, const char *path, const char *call)
{
    if (kind != EIO_AT) return 0;
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
        return hit_at(AT_FDCWD, path, #name) ? -1 : counted(real(path, flags, mode), #name); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int directory, const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        REAL(int, #name, int, const char *, int, ...); \
        return hit_at(directory, path, #name) ? -1 : counted(real(directory, path, flags, mode), #name); \
    }
OPENAT(openat)
OPENAT(openat64)

DIR *opendir(const char *path)
{
    REAL(DIR *, "opendir", const char *);
    if (hit(path, "opendir")) return NULL;
    DIR *directory = real(path);
    if (!directory) counted(-1, "opendir");
    return directory;
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
    return counted(real(fd, data, size), "write");
}

int ftruncate64(int fd, off_t size)
{
    REAL(int, "ftruncate64", int, off_t);
    return hit_descriptor(fd, "ftruncate") ? -1 : counted(real(fd, size), "ftruncate");
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

/* --- what takes a descriptor --------------------------------------------------------- */

int pipe2(int fds[2], int flags)
{
    REAL(int, "pipe2", int *, int);
    return counted(real(fds, flags), "pipe2");
}

int dup(int fd)
{
    REAL(int, "dup", int);
    return counted(real(fd), "dup");
}

#define FCNTL(name) \
    int name(int fd, int command, ...) { \
        va_list rest; va_start(rest, command); void *more = va_arg(rest, void *); va_end(rest); \
        REAL(int, #name, int, int, ...); \
        return counted(real(fd, command, more), #name); \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

int openpty(int *ours, int *theirs, char *name, const struct termios *modes, const struct winsize *size)
{
    REAL(int, "openpty", int *, int *, char *, const struct termios *, const struct winsize *);
    return counted(real(ours, theirs, name, modes, size), "openpty");
}

int socket(int domain, int type, int protocol)
{
    REAL(int, "socket", int, int, int);
    return counted(real(domain, type, protocol), "socket");
}

int socketpair(int domain, int type, int protocol, int fds[2])
{
    REAL(int, "socketpair", int, int, int, int *);
    return counted(real(domain, type, protocol, fds), "socketpair");
}
