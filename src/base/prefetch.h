// prefetch.h - loads memory into the cache ahead of its use, if the compiler can.
#ifndef CAROM_BASE_PREFETCH_H
#define CAROM_BASE_PREFETCH_H

#if defined(__GNUC__)
#define CR_PREFETCH(at) __builtin_prefetch(at)
#else
#define CR_PREFETCH(at) ((void)(at))
#endif

#endif
