import type { SentEvent } from '../../core/runs/wait.ts'
import type { Store } from '../../core/store/store.ts'
import { nextMomentOf } from '../../schedule/next-moment.ts'

/** A schedule with moments to come. */
export interface TestSchedule {
  /** Of a cron line in code, the id of its workflow; of a later event, an id. */
  name: string
  /** The workflow that it starts; null: it sends an event. */
  workflow: string | null
  /** Type of the event that it sends; null: it starts a workflow. */
  sends: string | null
  /** Null for a single moment. */
  cron: string | null
  /** The input of its runs, or the event; null for a cron line in code. */
  input: unknown
  /** Its next moment. */
  next: Date
}

const ALL = 100_000

/** The schedules that are not done, the next one first. */
export async function listTestSchedules(store: Store, now: number): Promise<TestSchedule[]> {
  const all = await store.listSchedules({ limit: ALL })
  return all
    .flatMap(({ name, workflow, plan, input }) => {
      const next = nextMomentOf(plan)(now)
      if (next === null) return []
      const content = input === null ? null : JSON.parse(input)
      const event = workflow === null ? (content as SentEvent) : null
      return {
        name,
        workflow,
        sends: event?.type ?? null,
        cron: plan.kind === 'cron' ? plan.expression : null,
        input: event ? JSON.parse(event.body) : content,
        next: new Date(next),
      }
    })
    .sort((one, other) => Number(one.next) - Number(other.next) || (one.name < other.name ? -1 : 1))
}
