/** A state that has a colour of its own; every other state is one of these in another word. */
export type State = 'completed' | 'failed' | 'running' | 'waiting' | 'person' | 'idle'

interface Look {
  state: State
  glyph: string
}

const RUN_LOOKS: Record<string, Look> = {
  completed: { state: 'completed', glyph: '✓' },
  failed: { state: 'failed', glyph: '✗' },
  running: { state: 'running', glyph: '◐' },
  started: { state: 'running', glyph: '◐' },
  waiting: { state: 'waiting', glyph: '◷' },
  pending: { state: 'idle', glyph: '○' },
  canceled: { state: 'idle', glyph: '⊘' },
  skipped: { state: 'idle', glyph: '⇥' },
  planned: { state: 'waiting', glyph: '⇢' },
}

const NEEDS_YOU: Look = { state: 'person', glyph: '☞' }
const UNKNOWN: Look = { state: 'idle', glyph: '·' }

/** Colour and glyph of a run's or step's status. */
export function lookOf(status: string, needsPerson = false): Look & { word: string } {
  if (needsPerson) return { ...NEEDS_YOU, word: 'needs you' }
  return { ...(RUN_LOOKS[status] ?? UNKNOWN), word: status }
}

const FATES: Record<string, Look & { word: string }> = {
  starts: { state: 'completed', glyph: '✓', word: 'starts' },
  waits: { state: 'waiting', glyph: '◷', word: 'waits' },
  halts: { ...NEEDS_YOU, word: 'would need you' },
  skipped: { state: 'idle', glyph: '⇥', word: 'is skipped' },
}

/** Colour, glyph and words of an event's fate at a workflow. */
export function lookOfFate(fate: string): Look & { word: string } {
  return FATES[fate] ?? { ...UNKNOWN, word: 'ignores it' }
}

const FINDINGS: Record<string, Look> = {
  ok: { state: 'completed', glyph: '✓' },
  warn: { state: 'waiting', glyph: '!' },
  fail: { state: 'failed', glyph: '✗' },
}

/** Colour and glyph of a check, by its level. */
export function lookOfFinding(level: string, check: string): Look & { word: string } {
  return { ...(FINDINGS[level] ?? UNKNOWN), word: check }
}

/** Colour, glyph and words of a delivery's verdict. */
export function lookOfVerdict(verdict: string): Look & { word: string } {
  const word = verdict.replaceAll('_', ' ')
  if (verdict === 'accepted') return { state: 'completed', glyph: '✓', word }
  if (verdict === 'duplicate') return { state: 'idle', glyph: '⧉', word }
  if (verdict === 'learning') return { state: 'waiting', glyph: '◔', word }
  return { state: 'failed', glyph: '✗', word }
}

const STANDINGS = {
  same: { state: 'completed', glyph: '✓', word: 'same size' },
  differs: { state: 'failed', glyph: '✗', word: 'differs' },
  both: { state: 'idle', glyph: '=', word: 'in both' },
  only_here: { state: 'waiting', glyph: '+', word: 'only here' },
} as const satisfies Record<string, Look & { word: string }>

/** Colour, glyph and words of an entry beside its namesake in another folder. */
export function lookOfStanding(standing: keyof typeof STANDINGS): Look & { word: string } {
  return STANDINGS[standing]
}
