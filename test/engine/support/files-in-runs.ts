import type { FilesFor } from '../../../src/engine/worker-parts.ts'
import type { FilesClient } from '../../../src/files/client.ts'
import { wrapCalls } from '../../../src/files/wrap-calls.ts'
import { eventBody, incoming } from '../../support/fixtures.ts'
import type { TestEngine } from '../../support/test-engine.ts'

/** Runs whose calls go to `client`, which only has what the test needs. */
export const filesOf =
  (client: Partial<Record<keyof FilesClient, (...given: never[]) => unknown>>): FilesFor =>
  (_account, around) =>
    wrapCalls(
      () => client as unknown as FilesClient,
      around,
      () => {},
    )

/** An event of a type, with the run of one workflow. */
export async function deliver(
  { store }: TestEngine,
  id: string,
  type: string,
  data: object,
  workflow: string,
): Promise<string> {
  const { runs } = await store.saveDelivery(incoming(id, { body: eventBody(id, type, data), workflows: [workflow] }))
  return runs[0] ?? ''
}
