import { createHook } from 'node:async_hooks'
import { findCreator } from '../find-call-site.ts'
import { begun, isEngineAtWork } from '../own-work.ts'
import { currentPass, currentStep } from '../scope.ts'

/** Kinds of work that ends by itself. Sockets, streams and ticks are none. */
const AWAITED = /^(Immediate|Timeout|ZLIB|QUERYWRAP)$|REQ(UEST|WRAP|PROMISE|CALLBACK)?$|CONNECTWRAP$/
let watchers = 0

/** Node has one hook for all code of a thread. */
const hook = createHook({
  // Promises are too many to be watched; what they wait for is enough.
  trackPromises: false,
  init: (id, type, _trigger, resource) => {
    if (!AWAITED.test(type) || isEngineAtWork()) return
    const pass = currentPass()
    if (pass === null || pass.parking.isClosed || currentStep(pass) !== null) return
    const creator = findCreator()
    if (creator.isOurs && !creator.isClient) return
    begun.set(id, pass.parking.ownWork)
    pass.parking.ownWork.begin(id, { isTimer: type === 'Timeout', place: creator.place }, resource)
  },
  after: (id) => {
    if (begun.size === 0) return
    const work = begun.get(id)
    if (!work) return
    begun.delete(id)
    work.end(id)
  },
})

/** Begins to watch what authors' code of this thread does outside steps; the result ends that. */
export function watchOwnWork(): () => void {
  watchers += 1
  if (watchers === 1) hook.enable()
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    watchers -= 1
    if (watchers === 0) hook.disable()
  }
}
