import type { AnswerOf } from '../../admin/contract/routes.ts'

/** A state that has a colour of its own; every other state is one of these in another word. */
export type State = 'completed' | 'failed' | 'running' | 'waiting' | 'person' | 'idle'

/** Colour, glyph and word of a state. */
export interface Look {
  state: State
  glyph: string
  word: string
}

/** Looks by their states; without a word of its own, a state is its word. */
type Looks = Readonly<Record<string, readonly [state: State, glyph: string, word?: string]>>

function lookIn(looks: Looks, name: string, word?: string): Look {
  const [state, glyph, own] = looks[name] ?? ['idle', '·']
  return { state, glyph, word: word ?? own ?? name.replaceAll('_', ' ') }
}

const RUNS: Looks = {
  completed: ['completed', '✓'],
  failed: ['failed', '✗'],
  running: ['running', '◐'],
  started: ['running', '◐'],
  waiting: ['waiting', '◷'],
  pending: ['idle', '○'],
  canceled: ['idle', '⊘'],
  skipped: ['idle', '⇥'],
  planned: ['waiting', '⇢'],
  queued: ['idle', '○'],
}

/** The look of a run's, step's or transfer's status. */
export function lookOf(status: string, needsPerson = false): Look {
  return needsPerson ? { state: 'person', glyph: '☞', word: 'needs you' } : lookIn(RUNS, status)
}

const FATES: Looks = {
  starts: ['completed', '✓'],
  waits: ['waiting', '◷'],
  halts: ['person', '☞', 'would need you'],
  skipped: ['idle', '⇥', 'is skipped'],
  ignored: ['idle', '·', 'ignores it'],
}

/** The look of an event's fate at a workflow. */
export const lookOfFate = (fate: string): Look => lookIn(FATES, fate)

const FINDINGS: Looks = { ok: ['completed', '✓'], warn: ['waiting', '!'], fail: ['failed', '✗'] }

/** The look of a check, by its level. */
export const lookOfFinding = (level: string, check: string): Look => lookIn(FINDINGS, level, check)

const VERDICTS: Looks = { accepted: ['completed', '✓'], duplicate: ['idle', '⧉'], learning: ['waiting', '◔'] }

/** The look of a delivery's verdict; all others are refusals. */
export function lookOfVerdict(verdict: string): Look {
  const look = lookIn(VERDICTS, verdict)
  return verdict in VERDICTS ? look : { ...look, state: 'failed', glyph: '✗' }
}

const STANDINGS = {
  same: ['completed', '✓'],
  differs: ['failed', '✗'],
  only_here: ['waiting', '+'],
  only_there: ['idle', '−'],
} as const satisfies Looks

/** The look of a step beside the one of another run. */
export const lookOfStanding = (standing: keyof typeof STANDINGS): Look => lookIn(STANDINGS, standing)

export type Endpoint = AnswerOf<'GET /endpoints/:name'>

const ENDPOINTS: Looks = { active: ['completed', '●'], learning: ['waiting', '◔'], disabled: ['idle', '○'] }

/** Whether an endpoint takes deliveries. */
export const lookOfEndpoint = (status: Endpoint['status']): Look => lookIn(ENDPOINTS, status)

const APPROVALS: Looks = {
  open: ['person', '⚖'],
  approved: ['completed', '✓'],
  denied: ['failed', '✗'],
  expired: ['idle', '⌛'],
  withdrawn: ['idle', '⊘'],
}

/** The look of an approval's status, or of one person's word. */
export const lookOfApproval = (status: string, word?: string): Look => lookIn(APPROVALS, status, word)

const FAILURES: Looks = { open: ['failed', '✗'], snoozed: ['waiting', '◷'], resolved: ['completed', '✓'] }

/** The look of a kind of failures. */
export const lookOfFailure = (state: string): Look => lookIn(FAILURES, state)

const PHASES: Looks = {
  begun: ['running', '◐'],
  ended: ['completed', '✓'],
  done: ['completed', '✓'],
  decided: ['person', '⚖'],
  switched: ['waiting', '⏻'],
  outside: ['person', '!'],
}

type Effect = Pick<AnswerOf<'GET /effects'>['items'][number], 'phase' | 'outcome' | 'error' | 'workflow'>

export function lookOfEffect({ phase, outcome, error, workflow }: Effect): Look {
  if (error !== null && (phase === 'ended' || phase === 'done')) return lookIn(RUNS, 'failed')
  // A workflow's code called past the guard and the ledger.
  const isOutside = phase === 'noted' && workflow !== null
  return lookIn(PHASES, isOutside ? 'outside' : phase, (outcome ?? phase).replaceAll('_', ' ').slice(0, 16))
}
