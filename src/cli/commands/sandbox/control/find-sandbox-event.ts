import { resolveAmong } from '../../../../admin/queries/resolve-id.ts'
import type { SandboxEvent } from '../../../../sandbox/index.ts'
import type { SandboxControl } from './sandbox-control.ts'

/** The id of the only event that begins so; `text` itself where none does. */
export async function findSandboxEvent(sandbox: SandboxControl, text: string): Promise<string> {
  const events = await sandbox.get<SandboxEvent[]>('/events')
  return resolveAmong(text, events)?.id ?? text
}
