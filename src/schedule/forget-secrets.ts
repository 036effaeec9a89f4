import { UpshotError } from '../core/errors.ts'
import { planForgetting } from '../core/incoming/endpoint.ts'
import type { Store } from '../core/store/store.ts'

/** Drops the retired secrets that are kept no longer, in a commit for each endpoint. */
export async function forgetSecrets(
  store: Pick<Store, 'listEndpoints' | 'updateEndpoint'>,
  now: number,
): Promise<void> {
  for (const endpoint of await store.listEndpoints()) {
    const kept = planForgetting(endpoint, now)
    if (kept !== endpoint) await store.updateEndpoint(kept).catch(passOver)
  }
}

/** Somebody changed or removed the endpoint in the meantime: the next round drops them. */
function passOver(error: unknown): void {
  if (!(error instanceof UpshotError) || (error.code !== 'conflict' && error.code !== 'not_found')) throw error
}
