import { lookOf, lookOfVerdict } from '../words/states.ts'

/** A run's or step's status: colour, glyph and word. */
export function Status({ status, needsPerson = false }: { status: string; needsPerson?: boolean }) {
  return <Look look={lookOf(status, needsPerson)} />
}

/** A delivery's verdict. */
export function VerdictMark({ verdict }: { verdict: string }) {
  return <Look look={lookOfVerdict(verdict)} />
}

/** A state: colour, glyph and word. */
export function Look({ look: { state, glyph, word } }: { look: ReturnType<typeof lookOf> }) {
  return (
    <span className="status" data-state={state}>
      <span aria-hidden="true">{glyph}</span>
      {word}
    </span>
  )
}
