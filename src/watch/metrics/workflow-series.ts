import type { NoticeOf } from '../../core/notices.ts'
import type { Effect } from '../../core/runs/step.ts'
import type { Count, Spread } from './families.ts'
import { LONG } from './observe.ts'
import type { SeriesBook } from './series-book.ts'

type StartOrigin = NoticeOf<'run.started'>['origin']

const ORIGINS = [
  'event',
  'tick',
  'manual',
  'replay',
  'plan',
  'fork',
  'failure',
  'continue',
  'invoke',
] as const satisfies StartOrigin[]
const OUTCOMES = ['completed', 'failed', 'canceled', 'skipped', 'planned'] as const
const PARKS = ['time', 'event', 'person', 'turn', 'approval'] as const
const ATTEMPTS = ['completed', 'retried', 'failed'] as const
const CHANGES = ['write', 'delete'] as const satisfies Effect[]

type RunEnd = (typeof OUTCOMES)[number]
export type Park = (typeof PARKS)[number]

/** The series of one workflow. All are there with 0 from the start, but histograms of steps. */
export interface WorkflowSeries {
  started: Record<StartOrigin, Count>
  ended: Record<RunEnd, Count>
  duration: Spread
  parked: Record<Park, Count>
  retried: Count
  steps: Record<(typeof ATTEMPTS)[number], Count>
  effects: Record<(typeof CHANGES)[number], Count>
  /** Made with the first step of that effect: each takes sixteen series. */
  stepDuration: (effect: Effect) => Spread
}

/** Gives each workflow its series; they are looked up once per workflow, not per count. */
export function openWorkflowSeries(book: SeriesBook): (workflow: string) => WorkflowSeries {
  const families = defineFamilies(book)
  const known = new Map<string, WorkflowSeries>()
  return (id) => {
    const found = known.get(id)
    if (found) return found
    const workflow = book.bounded('workflow', id)
    const made = makeSeries(families, workflow)
    // A workflow beyond the bound is looked up again each time, so that the map stays small.
    if (workflow === id) known.set(id, made)
    return made
  }
}

type Families = ReturnType<typeof defineFamilies>

function defineFamilies(book: SeriesBook) {
  return {
    started: book.counter('upshot_runs_started_total', 'Runs whose code began, by what made them.'),
    ended: book.counter('upshot_runs_ended_total', 'Runs that ended, by outcome.'),
    duration: book.histogram('upshot_run_duration_seconds', 'Time from the making of a run to its end.', LONG),
    parked: book.counter('upshot_runs_parked_total', 'Passes that ended in a wait, by what they wait for.'),
    retried: book.counter('upshot_runs_retried_total', 'Runs whose code failed outside a step and is tried again.'),
    steps: book.counter('upshot_steps_total', 'Attempts of steps, by outcome.'),
    stepDuration: book.histogram('upshot_step_duration_seconds', 'Time that an attempt of a step took.', LONG),
    effects: book.counter('upshot_effects_total', 'Completed steps that changed something outside.'),
  }
}

function makeSeries(families: Families, workflow: string): WorkflowSeries {
  const durations = new Map<Effect, Spread>()
  return {
    started: each(ORIGINS, (origin) => families.started({ workflow, origin })),
    ended: each(OUTCOMES, (outcome) => families.ended({ workflow, outcome })),
    duration: families.duration({ workflow }),
    parked: each(PARKS, (reason) => families.parked({ workflow, for: reason })),
    retried: families.retried({ workflow }),
    steps: each(ATTEMPTS, (outcome) => families.steps({ workflow, outcome })),
    effects: each(CHANGES, (effect) => families.effects({ workflow, effect })),
    stepDuration: (effect) => {
      const known = durations.get(effect) ?? families.stepDuration({ workflow, effect })
      durations.set(effect, known)
      return known
    },
  }
}

export function each<Name extends string, T>(names: readonly Name[], make: (name: Name) => T): Record<Name, T> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, T>
}
