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
}

const NEEDS_YOU: Look = { state: 'person', glyph: '☞' }
const UNKNOWN: Look = { state: 'idle', glyph: '·' }

/** Colour and glyph of a run's or step's status. */
export function lookOf(status: string, needsPerson = false): Look & { word: string } {
  if (needsPerson) return { ...NEEDS_YOU, word: 'needs you' }
  return { ...(RUN_LOOKS[status] ?? UNKNOWN), word: status }
}

/** Colour, glyph and words of a delivery's verdict. */
export function lookOfVerdict(verdict: string): Look & { word: string } {
  const word = verdict.replaceAll('_', ' ')
  if (verdict === 'accepted') return { state: 'completed', glyph: '✓', word }
  if (verdict === 'duplicate') return { state: 'idle', glyph: '⧉', word }
  if (verdict === 'learning') return { state: 'waiting', glyph: '◔', word }
  return { state: 'failed', glyph: '✗', word }
}
