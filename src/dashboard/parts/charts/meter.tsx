import { formatCount } from '../../words/format.ts'

/** A part of a limit as a bar with its numbers. Above 80 % it has the colour of waiting. */
export function Meter({ label, value, most }: { label: string; value: number; most: number }) {
  const share = most === 0 ? 1 : Math.min(value / most, 1)
  const look = share >= 1 ? 'failed' : share >= 0.8 ? 'waiting' : 'completed'
  return (
    <span className="meter">
      <svg aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 100 8">
        <rect className="rail" width="100" height="8" />
        <rect className={`fill ${look}`} width={share * 100} height="8" />
      </svg>
      <span>
        <span className="unseen">{label}: </span>
        {formatCount(value)} <span className="quiet">of {formatCount(most)}</span>
      </span>
    </span>
  )
}
