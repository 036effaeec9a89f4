import { type Goal, isReached, median } from './result.ts'

export interface RoundPlan {
  /** After so many rounds it ends, when all of them say the same about each goal. */
  least: number
  /** After so many it ends in any case. */
  most: number
}

/**
 * Measures again and again and gives the median of each figure. A round measures all rivals one
 * right after the other, so that a ratio compares neighbours in time and a slow minute of the
 * machine hits both. Where single rounds fall on both sides of a goal, chance is close to deciding:
 * then more rounds are made, in favour of neither side.
 */
export async function measureRounds<Figure extends string>(
  { least, most }: RoundPlan,
  goals: Partial<Record<Figure, Goal>>,
  measure: (round: number) => Promise<Record<Figure, number>>,
): Promise<Record<Figure, number>> {
  const rounds: Record<Figure, number>[] = []
  while (rounds.length < most) {
    rounds.push(await measure(rounds.length))
    if (rounds.length >= least && isUnanimous(rounds, goals)) break
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

/**
 * The rivals in the order of this round: every second round goes backwards, so that none always
 * comes first.
 */
export function inTurn<T>(rivals: readonly T[], round: number): T[] {
  return round % 2 === 0 ? [...rivals] : rivals.toReversed()
}
