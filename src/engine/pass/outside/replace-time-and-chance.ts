import crypto, { createHash } from 'node:crypto'
import { formatUuid } from '../../../core/ids.ts'
import { currentPass, stepAtWork } from '../scope.ts'

/** Draws so far, by the pass or the attempt of a step. */
const draws = new WeakMap<object, number>()

/**
 * Gives code of runs the remembered time and chance of its run, where it asks JavaScript for them:
 * `Date`, `Math.random` and `randomUUID`. Two previews of a run get the same. Cannot be undone.
 */
export function replaceTimeAndChance(): void {
  const RealDate = Date
  const realNow = Date.now
  const now = () => stepAtWork()?.now ?? currentPass()?.journal.now ?? realNow()
  RealDate.now = now
  globalThis.Date = new Proxy(RealDate, {
    construct: (real, given, target) => Reflect.construct(real, given.length === 0 ? [now()] : given, target),
    apply: (real) => new real(now()).toString(),
  })
  const realRandom = Math.random
  Math.random = () => {
    const drawn = draw()
    return drawn === null ? realRandom() : drawn.readUInt32BE() / 2 ** 32
  }
  const realUuid = crypto.randomUUID
  crypto.randomUUID = globalThis.crypto.randomUUID = (...given) => {
    const drawn = draw()
    return drawn === null ? realUuid(...given) : (formatUuid(drawn) as ReturnType<typeof realUuid>)
  }
}

/** The next bytes of the run whose code calls; null outside of runs. */
function draw(): Buffer | null {
  const pass = currentPass()
  if (pass === null) return null
  const step = stepAtWork()
  const number = (draws.get(step ?? pass) ?? 0) + 1
  draws.set(step ?? pass, number)
  const place = step === null ? '' : `${step.key}/${step.attempt}`
  return createHash('sha256').update(`${pass.run.lease.runId} ${place} ${number}`).digest()
}
