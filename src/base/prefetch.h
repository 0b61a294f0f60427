// prefetch.h - memory that is read soon: brought nearer where the compiler knows how, else nothing.
#ifndef CAROM_BASE_PREFETCH_H
#define CAROM_BASE_PREFETCH_H

#if defined(__GNUC__)
#define CR_PREFETCH(at) __builtin_prefetch(at)
#else
#define CR_PREFETCH(at) ((void)(at))
#endif

#endif
