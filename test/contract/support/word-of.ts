import type { Decision } from '../../../src/core/safety/approval.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { NOW } from '../../support/fixtures.ts'

/** Anna's yes to the whole list of an approval; `part` changes that. */
export async function wordOf(store: Store, approval: string, part: Partial<Decision> = {}): Promise<Decision> {
  const hash = (await store.findApproval(approval, NOW))?.hash ?? ''
  const about = { approval, verdict: 'approved', actor: 'anna', reason: 'checked', hash } as const
  return { ...about, only: null, answer: null, signature: null, ...part }
}
