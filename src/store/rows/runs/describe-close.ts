/** Why a run is canceled: because of the end of the one that invoked it, or another beginning. */
export function describeClose(parent: string, why: 'failed' | 'was canceled' | 'was begun anew'): string {
  return `run ${parent}, which invoked it, ${why}`
}
