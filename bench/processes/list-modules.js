import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { threadId } from 'node:worker_threads'

/** Loaded before the app and its threads. A file per thread gets a line for each of its modules. */
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) appendFileSync(`${process.env.UPSHOT_BENCH_MODULES}.${threadId}`, `${url}\n`)
    return next(url, context)
  },
})
