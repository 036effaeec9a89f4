import type { IncompleteReason } from '../../../files/index.ts'

const WHY = {
  max: 'there are more entries than one listing may hold',
  unverified: 'its pages were read only once',
  changed: 'entries came or went while it was read',
  totals: 'the service counts other entries than it lists',
  repeated: 'the service sent the same page twice',
} as const satisfies Record<IncompleteReason, string>

/** A sentence for people about a listing that may lack entries. */
export function describeIncomplete(reason: IncompleteReason): string {
  return `The listing may lack entries: ${WHY[reason]}.`
}
