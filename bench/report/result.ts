/** Bound that a figure must keep. */
export type Goal = { atLeast: number } | { atMost: number }

/** One line of the report, and one entry of the JSON file. */
export interface Result {
  name: string
  value: number
  unit: string
  /** Such as `>= 0.55`; null without a goal. */
  goal: string | null
  /** True without a goal. */
  holds: boolean
}

/** A result with its verdict, which is decided before the value is rounded to four digits. */
export function judge(name: string, value: number, unit: string, goal?: Goal): Result {
  return {
    name,
    value: Number(value.toPrecision(4)),
    unit,
    goal: goal ? describeGoal(goal) : null,
    holds: goal === undefined || isReached(goal, value),
  }
}

/** False for NaN, the value of a figure that was not measured. */
export function isReached(goal: Goal, value: number): boolean {
  return 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost
}

function describeGoal(goal: Goal): string {
  return 'atLeast' in goal ? `>= ${goal.atLeast}` : `<= ${goal.atMost}`
}

/** NaN for no values. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** The value that `share` (0 to 1) of the values do not exceed, interpolated between two values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const position = (sorted.length - 1) * share
  const below = sorted[Math.floor(position)] ?? Number.NaN
  const above = sorted[Math.ceil(position)] ?? Number.NaN
  return below + (above - below) * (position - Math.floor(position))
}
