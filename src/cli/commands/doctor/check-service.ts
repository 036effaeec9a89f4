import { randomWord } from '../../../core/ids.ts'
import { STORAGES, type StorageName } from '../../../core/service/storage.ts'
import type { FilesClient } from '../../../files/index.ts'
import type { Config } from '../../../project/config/load-config.ts'
import type { ServiceConfig } from '../../../project/config/variables.ts'
import type { RunningApp } from '../../open/running-app.ts'
import { formatSpan } from '../../terminal/format-value.ts'
import { describeProblem } from '../../terminal/problem.ts'
import { openFiles } from '../files/files-client.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const ANSWER_WITHIN_MS = 10_000
/**
 * A signature with a moment in it is refused when it is older than five minutes, so a clock must be
 * well within.
 */
const SKEW_WARN_MS = 30_000
const SKEW_FAIL_MS = 240_000

/** Whether the service is there, its clock agrees with ours, and the key may read each storage. */
export async function checkService(
  config: Config,
  { app, isTryingDelete }: { app: RunningApp | null; isTryingDelete: boolean },
): Promise<Finding[]> {
  const { service } = config
  if (service.kind === 'sandbox' && !app?.sandbox) {
    return [ok('service', 'the sandbox, which starts with the app (set the SERVICE_ variables for the real service)')]
  }
  const baseUrl = service.kind === 'real' ? service.baseUrl : (app?.sandbox?.baseUrl ?? '')
  const reach = await checkReach(baseUrl)
  if (reach.some(({ level }) => level === 'fail')) return reach
  await using files = await openFiles(config, { isAlone: true })
  const reads = await Promise.all(STORAGES.map((storage) => checkRead(files, storage, service)))
  return [...reach, ...reads, ...(isTryingDelete ? [await checkDelete(files)] : [])]
}

/** Any answer will do: without a key it is a refusal. */
async function checkReach(baseUrl: string): Promise<Finding[]> {
  const where = new URL(baseUrl).host
  try {
    const askedAt = Date.now()
    const response = await fetch(baseUrl, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    await response.body?.cancel()
    const tookMs = Date.now() - askedAt
    return [
      ok('service', `${where} answers in ${tookMs} ms`),
      ...(/\/v\d+\/?$/.test(new URL(baseUrl).pathname)
        ? []
        : [warn('base address', 'it does not end with a version such as /v1', { fix: 'Correct SERVICE_BASE_URL.' })]),
      checkSkew(response.headers.get('date'), askedAt + tookMs / 2),
    ]
  } catch (error) {
    const cause =
      error instanceof Error && error.cause instanceof Error && 'code' in error.cause ? error.cause.code : error
    const why = cause instanceof Error ? cause.name : String(cause)
    const fix = 'Check SERVICE_BASE_URL, the name server, and whether this machine may go out to it.'
    return [fail('service', `${where} does not answer (${why})`, { fix })]
  }
}

/** The header counts whole seconds, so half of one is taken off. */
export function checkSkew(header: string | null, now: number): Finding {
  const theirs = Date.parse(header ?? '')
  if (Number.isNaN(theirs)) return warn('clock', 'the service did not say its time, so it cannot be compared')
  const skewMs = Math.round(now - (theirs + 500))
  const found = `${formatSpan(0, Math.abs(skewMs))} ${skewMs < 0 ? 'behind' : 'ahead of'} the service`
  const fix =
    "Set this machine's clock, for example with NTP: a signature with a moment in it is refused after five minutes."
  if (Math.abs(skewMs) > SKEW_FAIL_MS) return fail('clock', found, { fix })
  return Math.abs(skewMs) > SKEW_WARN_MS ? warn('clock', found, { fix }) : ok('clock', found)
}

async function checkRead(files: FilesClient, storage: StorageName, service: ServiceConfig): Promise<Finding> {
  const check = `read ${storage}`
  try {
    await files.list({ service: storage, limit: 1 })
    return ok(check, 'the key may list it')
  } catch (error) {
    const problem = describeProblem(error)
    const wire = service.kind === 'real' ? ` as "${service.storages[storage]}"` : ''
    return fail(check, `the call${wire} failed: ${problem?.message ?? 'unknown fault'}`, {
      fix: problem?.code === 'invalid_request' ? `Correct SERVICE_${storage.toUpperCase()}.` : (problem?.fix ?? ''),
    })
  }
}

/**
 * The id is made up, so nothing can be deleted: a key that may would be told that there is no such
 * file.
 */
async function checkDelete(files: FilesClient): Promise<Finding> {
  const check = 'delete'
  try {
    await files.delete({ service: 'storage_a', id: `upshot-doctor-${randomWord()}` })
    return ok(check, 'the key may delete')
  } catch (error) {
    const problem = describeProblem(error)
    if (problem?.code === 'permission') {
      return warn(check, 'the key may not delete', { fix: 'Make a read-write key, if workflows are to delete.' })
    }
    return fail(check, problem?.message ?? 'unknown fault', { fix: problem?.fix ?? '' })
  }
}
