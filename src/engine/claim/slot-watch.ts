import type { NoticeOf } from '../../core/notices.ts'
import { stepNameOf } from '../../core/runs/step.ts'
import type { Clock } from '../../core/time.ts'
import type { Parking } from '../pass/parking.ts'
import type { WorkerParts } from '../worker-parts.ts'
import type { StillWatch } from './still-watch.ts'

type HeldBy = Pick<NoticeOf<'slots.held'>, 'workflow' | 'step' | 'target'>

interface Watched {
  parking: Pick<Parking, 'atWork'>
  still: Pick<StillWatch, 'pass'>
}

/** Time for which a step holds its slot before that is told. */
const LONG_MS = 60_000

/**
 * Watches for steps that hold at least half of the slots for over a minute while none is free. A
 * service that accepts calls and never answers does this, and no run can begin meanwhile.
 */
export class SlotWatch {
  /** When a look found the step first, by the object of its attempt. */
  readonly #since = new WeakMap<object, number>()
  #isTold = false

  /** To be called again and again. Tells once until the slots come free. */
  look(
    passes: Iterable<Watched>,
    { clock, slots, publish, free }: Pick<WorkerParts, 'clock' | 'slots' | 'publish'> & { free: number },
  ): void {
    const held = [...passes].flatMap((pass) => this.#findLong(pass, clock) ?? [])
    const isHeld = free <= 0 && held.length >= slots / 2
    if (isHeld && !this.#isTold) publish({ kind: 'slots.held', slots, held: held.length, ...findMost(held) })
    this.#isTold = isHeld
  }

  #findLong({ parking, still }: Watched, clock: Clock): HeldBy | null {
    // The clock of the machine may be set.
    const moment = clock.uptime?.() ?? clock.now()
    for (const step of parking.atWork) {
      const since = this.#since.get(step) ?? moment
      this.#since.set(step, since)
      if (moment - since < LONG_MS) continue
      // Of a call, the storage alone: the rest is a path or an id.
      const target = step.target?.split(':')[0] ?? null
      return { workflow: still.pass?.run.workflow ?? '', step: stepNameOf(step.key), target }
    }
    return null
  }
}

function findMost(held: readonly HeldBy[]): HeldBy {
  const alike = Map.groupBy(held, (by) => JSON.stringify(by))
  const [most] = [...alike.values()].sort((one, other) => other.length - one.length)
  return most?.[0] as HeldBy
}
