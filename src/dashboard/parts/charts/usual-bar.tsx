import { formatDuration } from '../../words/format.ts'

interface Usual {
  p50Ms: number
  p95Ms: number
}

/** Words for a usual time. */
export function describeUsual({ p50Ms, p95Ms }: Usual): string {
  return `usually ${formatDuration(p50Ms)}, 95 % within ${formatDuration(p95Ms)}`
}

/** A duration as a mark on a line, over the band from the usual time to the 95th percentile. */
export function UsualBar({ ms, usual }: { ms: number; usual: Usual }) {
  const most = Math.max(ms, usual.p95Ms, 1)
  const place = (value: number) => (value / most) * 100
  const kind = ms > usual.p95Ms ? 'slow' : 'fits'
  return (
    <svg className="usual" role="img" aria-label={describeUsual(usual)} viewBox="0 0 100 6" preserveAspectRatio="none">
      <title>{describeUsual(usual)}</title>
      <rect className="line" y="2" width="100" height="2" />
      <rect className="band" x={place(usual.p50Ms)} y="1" width={place(usual.p95Ms - usual.p50Ms)} height="4" />
      <rect className={kind} y="2" width={Math.max(place(ms), 2)} height="2" />
    </svg>
  )
}
