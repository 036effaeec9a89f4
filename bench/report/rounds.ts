import { type Goal, isReached, median } from './result.ts'

export interface RoundPlan {
  /** Rounds after which it may end, if all of them agree about each goal. */
  min: number
  /** Rounds after which it ends in any case. */
  max: number
}

/**
 * Returns the median of each figure. A round measures all rivals right after one another, so a slow
 * minute hits both sides of a ratio.
 */
export async function measureRounds<Figure extends string>(
  { min, max }: RoundPlan,
  goals: Partial<Record<Figure, Goal>>,
  measure: (round: number) => Promise<Record<Figure, number>>,
): Promise<Record<Figure, number>> {
  const rounds: Record<Figure, number>[] = []
  while (rounds.length < max) {
    rounds.push(await measure(rounds.length))
    if (rounds.length >= min && isUnanimous(rounds, goals)) break
  }
  const figures = Object.keys(rounds[0] ?? {}) as Figure[]
  const medians = figures.map((figure) => [figure, median(rounds.map((round) => round[figure]))])
  return Object.fromEntries(medians)
}

function isUnanimous<Figure extends string>(
  rounds: readonly Record<Figure, number>[],
  goals: Partial<Record<Figure, Goal>>,
): boolean {
  return (Object.entries(goals) as [Figure, Goal][]).every(([figure, goal]) => {
    const verdicts = rounds.map((round) => isReached(goal, round[figure]))
    return new Set(verdicts).size === 1
  })
}

/** The rivals in reverse order in every second round, so that none is always first. */
export function inTurn<T>(rivals: readonly T[], round: number): T[] {
  return round % 2 === 0 ? [...rivals] : rivals.toReversed()
}
