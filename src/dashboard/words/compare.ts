import type { AnswerOf } from '../../admin/contract/routes.ts'

/** A part of a JSON value that another one has otherwise; undefined: it is absent there. */
interface Change {
  /** Such as `files[2].size`; empty for the whole value. */
  path: string
  before: unknown
  after: unknown
}

/** Changes of one value that are told. */
const MAX_CHANGES = 50

/** The smallest parts in which two JSON values differ. */
export function listChanges(before: unknown, after: unknown, path = ''): Change[] {
  if (Object.is(before, after)) return []
  if (!isNested(before) || !isNested(after) || Array.isArray(before) !== Array.isArray(after)) {
    return [{ path, before, after }]
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const nameOf = (name: string) => (Array.isArray(after) ? `[${name}]` : path === '' ? name : `.${name}`)
  return names.flatMap((name) => listChanges(before[name], after[name], `${path}${nameOf(name)}`)).slice(0, MAX_CHANGES)
}

function isNested(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

type StepDetails = Pick<AnswerOf<'GET /runs/:id/details'>['steps'][number], 'key' | 'status' | 'output' | 'error'>

/** A step of a run beside the same step of the run that it comes from. */
export interface ComparedStep {
  key: string
  standing: 'same' | 'differs' | 'only_here' | 'only_there'
  changes: readonly Change[]
}

/** The steps of two runs by key, in the order of the first, then those of the other alone. */
export function compareSteps(here: readonly StepDetails[], there: readonly StepDetails[]): ComparedStep[] {
  const known = new Map(there.map((step) => [step.key, step]))
  const own = new Set(here.map(({ key }) => key))
  const alone = there.filter(({ key }) => !own.has(key))
  return [
    ...here.map((step): ComparedStep => {
      const other = known.get(step.key)
      if (!other) return { key: step.key, standing: 'only_here', changes: [] }
      const changes = listChanges(answerOf(other), answerOf(step))
      return { key: step.key, standing: changes.length === 0 ? 'same' : 'differs', changes }
    }),
    ...alone.map(({ key }): ComparedStep => ({ key, standing: 'only_there', changes: [] })),
  ]
}

function answerOf({ status, output, error }: StepDetails): object {
  return error === null ? { status, result: output } : { status, error: `${error.name}: ${error.message}` }
}
