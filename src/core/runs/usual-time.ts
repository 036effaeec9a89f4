/** Durations that are usual, in milliseconds. */
interface UsualTime {
  p50Ms: number
  p95Ms: number
}

/** The median and the 95th percentile of durations; null without any. */
export function findUsual(durations: readonly number[]): UsualTime | null {
  const sorted = [...durations].sort((one, other) => one - other)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
  const [p50Ms, p95Ms] = [at(0.5), at(0.95)]
  return p50Ms === undefined || p95Ms === undefined ? null : { p50Ms, p95Ms }
}

/** The usual time over several hours, each of which counts by its runs; null without any. */
export function joinUsual(
  hours: readonly { runs: number; p50Ms: number | null; p95Ms: number | null }[],
): UsualTime | null {
  const pick = (part: 'p50Ms' | 'p95Ms') => {
    const known = hours.flatMap(({ runs, [part]: ms }) => (ms === null ? [] : [{ runs, ms }]))
    const half = known.reduce((sum, { runs }) => sum + runs, 0) / 2
    let seen = 0
    const isMiddle = ({ runs }: { runs: number }) => {
      seen += runs
      return seen >= half
    }
    return known.sort((one, other) => one.ms - other.ms).find(isMiddle)?.ms
  }
  const [p50Ms, p95Ms] = [pick('p50Ms'), pick('p95Ms')]
  return p50Ms === undefined || p95Ms === undefined ? null : { p50Ms, p95Ms }
}
