import type { Recording } from '../../core/runs/claim.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { targetsOf } from '../../engine/admit/gather-event-facts.ts'
import type { RecordedRun } from '../../engine/play/play-recorded.ts'

/** Names of properties whose text is a secret, whatever it looks like. */
const SECRET = /(secret|token|password|passwd|authorization|cookie|api[-_]?key|credential|signature)/i
const REDACTED = 'redacted'

/** A run in the form of a file, with secrets replaced in its event and its results. */
export async function recordRun(
  store: Pick<ReadStore, 'readOutput' | 'listRunEvents' | 'listDeletes'>,
  { run, claim, steps }: Recording,
  spellings: StorageSpellings,
): Promise<RecordedRun> {
  const whole = steps.map(async ({ apartBytes, ...step }) => {
    const output = apartBytes === undefined ? step.output : await store.readOutput(run.id, step.key)
    return { ...step, output: output === null ? null : redactJson(output) }
  })
  const events = (await store.listRunEvents(run.id)).map((event) => ({ ...event, body: redactJson(event.body) }))
  const { cause } = claim
  const targets = cause.kind === 'event' && cause.event.type === 'file.deleted' ? targetsOf(cause.event, spellings) : []
  const deletes = await store.listDeletes(run.account, targets)
  const redacted =
    cause.kind === 'event'
      ? { ...cause, event: { ...cause.event, body: redactJson(cause.event.body) } }
      : cause.kind === 'call'
        ? { ...cause, input: redactJson(cause.input) }
        : cause
  const lease = { ...claim.lease, worker: '' }
  const steady = { ...claim, lease, cause: redacted }
  return { codeHash: claim.codeHash, claim: steady, steps: await Promise.all(whole), events, deletes, spellings }
}

/** JSON text with the text of secret properties replaced. A pruned body is no JSON, and stays. */
function redactJson(text: string): string {
  if (text === '') return text
  return JSON.stringify(JSON.parse(text, (name, value) => (isSecret(name, value) ? REDACTED : value)))
}

function isSecret(name: string, value: unknown): boolean {
  return typeof value === 'string' && isSecretName(name)
}

/** Whether the text of a property with this name is a secret, whatever it looks like. */
export function isSecretName(name: string): boolean {
  return SECRET.test(name)
}
