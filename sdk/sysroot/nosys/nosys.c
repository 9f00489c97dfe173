/* SPDX-License-Identifier: Apache-2.0
   Weak system calls that fail, so that code which never makes them links
   without them.  Compiled once for each name with -DL<name>, one archive
   member each: a program that brings its own _write still gets _sbrk here. */
#define CALL(result, name, parameters) __attribute__((weak)) result name parameters

#if defined L_close
CALL(int, _close, (int fd)) { return -1; }
#elif defined L_read
CALL(int, _read, (int fd, void *p, unsigned n)) { return -1; }
#elif defined L_write
CALL(int, _write, (int fd, const void *p, unsigned n)) { return -1; }
#elif defined L_lseek
CALL(int, _lseek, (int fd, int offset, int whence)) { return -1; }
#elif defined L_open
CALL(int, _open, (const char *name, int flags, ...)) { return -1; }
#elif defined L_fstat
CALL(int, _fstat, (int fd, void *st)) { return -1; }
#elif defined L_stat
CALL(int, _stat, (const char *name, void *st)) { return -1; }
#elif defined L_isatty
CALL(int, _isatty, (int fd)) { return -1; }
#elif defined L_link
CALL(int, _link, (const char *from, const char *to)) { return -1; }
#elif defined L_unlink
CALL(int, _unlink, (const char *name)) { return -1; }
#elif defined L_fcntl
CALL(int, _fcntl, (int fd, int command, ...)) { return -1; }
#elif defined L_kill
CALL(int, _kill, (int pid, int signal)) { return -1; }
#elif defined L_getpid
CALL(int, _getpid, (void)) { return -1; }
#elif defined L_mkdir
CALL(int, _mkdir, (const char *name, unsigned mode)) { return -1; }
#elif defined L_times
CALL(int, _times, (void *t)) { return -1; }
#elif defined L_gettimeofday
CALL(int, _gettimeofday, (void *t, void *zone)) { return -1; }
#elif defined L_sbrk
CALL(void *, _sbrk, (int n)) { return (void *)-1; }
#elif defined L_exit
CALL(void, _exit, (int status)) { for (;;); }
#else
#error "say which call with -DL_name"
#endif
