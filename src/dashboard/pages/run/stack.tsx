import { useApi } from '../../api/use-api.ts'
import { useMay } from '../../state/session.ts'
import type { Run } from '../../words/runs.ts'

/** The stack of an error, each frame with the code around it where its module is at hand. */
export function Stack({
  run,
  step,
  error,
}: {
  run: string
  step: string | undefined
  error: NonNullable<Run['error']>
}) {
  const isEnabled = useMay('operator') && error.at !== undefined
  const input = { params: { id: run }, query: step === undefined ? {} : { step } }
  const source = useApi('GET /runs/:id/source', input, { isEnabled, isStill: true })
  const found = source.data?.items ?? []
  return (
    <ol className="frames mono">
      {error.at?.map((frame) => {
        const place = found.find((each) => each.frame === frame)
        return (
          <li key={frame} className={frame.includes('node_modules') ? 'quiet' : ''}>
            {frame}
            {place && <Code place={place} isOpen={place === found[0]} />}
          </li>
        )
      })}
    </ol>
  )
}

interface Place {
  file: string
  line: number
  from: number
  lines: readonly string[]
  isChanged: boolean
}

function Code({ place: { file, line, from, lines, isChanged }, isOpen }: { place: Place; isOpen: boolean }) {
  const numbered = lines.map((text, index) => ({ number: from + index, text }))
  return (
    <details open={isOpen}>
      <summary>
        {file}, line {line}
        {isChanged && <span className="quiet"> · changed since</span>}
      </summary>
      <pre className="source">
        {numbered.map(({ number, text }) => (
          <span key={number} className={number === line ? 'here' : undefined}>
            <span className="quiet">{String(number).padStart(4)} </span>
            {text}
            {'\n'}
          </span>
        ))}
      </pre>
    </details>
  )
}
