import type { Pass } from './pass.ts'

/**
 * Movements of a pass so far; null while a step is at work, or where the code has ended. Where the
 * number stays, the code awaits something outside its steps, perhaps for ever.
 */
export function countMoves({ parking, order }: Pick<Pass, 'parking' | 'order'>): number | null {
  return parking.isBusy || parking.isClosed ? null : order.moves + parking.ownWork.moves
}

export function describeStill({ journal: { lastEnded } }: Pick<Pass, 'journal'>): string {
  const since = lastEnded === null ? 'before its first step' : `since step "${lastEnded}" ended`
  return `the code awaits something outside its steps, ${since}`
}
