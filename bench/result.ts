/** What a figure must reach; a figure without one is there to be read. */
export type Goal = { atLeast: number } | { atMost: number }

/** One line of the report, and one entry of the JSON file. */
export interface Result {
  name: string
  value: number
  unit: string
  /** Such as `>= 0.55`; null for a figure without a goal. */
  goal: string | null
  /** True where there is no goal. */
  holds: boolean
}

/** A result with its verdict. The value is rounded for its readers; the verdict is made before. */
export function judge(name: string, value: number, unit: string, goal?: Goal): Result {
  return {
    name,
    value: Number(value.toPrecision(4)),
    unit,
    goal: goal ? describeGoal(goal) : null,
    holds: goal === undefined || isReached(goal, value),
  }
}

/** False for NaN too: what was not measured does not hold. */
export function isReached(goal: Goal, value: number): boolean {
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost
}

function describeGoal(goal: Goal): string {
  return 'atLeast' in goal ? `>= ${goal.atLeast}` : `<= ${goal.atMost}`
}

/** The middle value, NaN of none. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/**
 * The value that `share` (0 to 1) of the values do not exceed, between two of them where it falls
 * there.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const position = (sorted.length - 1) * share
  const below = sorted[Math.floor(position)] ?? Number.NaN
  const above = sorted[Math.ceil(position)] ?? Number.NaN
  return below + (above - below) * (position - Math.floor(position))
}
