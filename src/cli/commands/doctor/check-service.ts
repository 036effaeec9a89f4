import { toFilesFault } from '../../../app/console/open-files-port.ts'
import { listBlockedKeys } from '../../../app/service/list-blocked-keys.ts'
import { activeSecrets, type Endpoint } from '../../../core/incoming/endpoint.ts'
import { markProbe, PROBE_HEADER } from '../../../core/incoming/probe-mark.ts'
import { signBody } from '../../../core/incoming/signature.ts'
import { STORAGES, type StorageName } from '../../../core/service/storage.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { isoTime } from '../../../core/time.ts'
import type { FilesClient } from '../../../files/index.ts'
import type { Config } from '../../../project/config/load-config.ts'
import type { ServiceConfig } from '../../../project/config/variables.ts'
import { commandClock } from '../../command-clock.ts'
import type { RunningApp } from '../../open/running-app.ts'
import { formatSpan } from '../../terminal/format-value.ts'
import { describeProblem } from '../../terminal/problem.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const ANSWER_WITHIN_MS = 10_000
/** A signature with a timestamp is refused after 5 min, so the clock must be well within that. */
const SKEW_WARN_MS = 30_000
const SKEW_FAIL_MS = 240_000

/** Checks the service's address and clock, and that the key can list each storage. */
export async function checkService(
  config: Config,
  { app, isTryingDelete }: { app: RunningApp | null; isTryingDelete: boolean },
): Promise<Finding[]> {
  const { service } = config
  if (service.kind === 'sandbox' && !app?.sandbox) {
    return [ok('service', 'the sandbox, which starts with the app; set the SERVICE_ variables to use the real service')]
  }
  const baseUrl = service.kind === 'real' ? service.baseUrl : (app?.sandbox?.baseUrl ?? '')
  const reach = await checkReach(baseUrl)
  if (reach.some(({ level }) => level === 'fail')) return reach
  await using files = await openFiles(config)
  const reads = await Promise.all(STORAGES.map((storage) => checkRead(files, storage, service)))
  return [...reach, ...reads, ...(isTryingDelete ? [await checkDelete(files)] : [])]
}

/** A client with a limit of its own: an app that hangs holds up no check. */
async function openFiles(config: Config): Promise<FilesClient> {
  const { findAccess } = await import('../../../app/service/access-to.ts')
  const { createFilesClient } = await import('../../../files/index.ts')
  const { fallbackKey, storages, ...access } = findAccess(config)
  return createFilesClient({
    ...access,
    ...(fallbackKey === null ? {} : { fallbackKey }),
    services: storages,
    priority: 'interactive',
    retry: { maxWait: '10s' },
  })
}

/** Any answer is fine: without a key the service refuses the call. */
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
        : [warn('base URL', 'it does not end with a version such as /v1', { fix: 'Correct SERVICE_BASE_URL.' })]),
      checkSkew(response.headers.get('date'), askedAt + tookMs / 2),
    ]
  } catch (error) {
    const cause =
      error instanceof Error && error.cause instanceof Error && 'code' in error.cause ? error.cause.code : error
    const why = cause instanceof Error ? cause.name : String(cause)
    const fix = 'Check SERVICE_BASE_URL, DNS, and whether a firewall blocks outgoing connections.'
    return [fail('service', `${where} does not answer (${why})`, { fix })]
  }
}

/** Compares a `Date` header with our clock. It has whole seconds, so half a second is added. */
export function checkSkew(header: string | null, now: number): Finding {
  const theirs = Date.parse(header ?? '')
  if (Number.isNaN(theirs)) return warn('clock', 'the service sent no Date header, so the clocks cannot be compared')
  const skewMs = Math.round(now - (theirs + 500))
  const found = `${formatSpan(0, Math.abs(skewMs))} ${skewMs < 0 ? 'behind' : 'ahead of'} the service`
  const fix =
    "Set this machine's clock, for example with NTP: signatures with a timestamp are refused after five minutes."
  if (Math.abs(skewMs) > SKEW_FAIL_MS) return fail('clock', found, { fix })
  return Math.abs(skewMs) > SKEW_WARN_MS ? warn('clock', found, { fix }) : ok('clock', found)
}

async function checkRead(files: FilesClient, storage: StorageName, service: ServiceConfig): Promise<Finding> {
  const check = `read ${storage}`
  try {
    await files.list({ service: storage, limit: 1 })
    return ok(check, 'the key can list it')
  } catch (error) {
    const problem = describeFault(error)
    const wire = service.kind === 'real' ? ` as "${service.storages[storage]}"` : ''
    return fail(check, `the call${wire} failed: ${problem?.message ?? 'unknown error'}`, {
      fix: problem?.code === 'invalid_request' ? `Correct SERVICE_${storage.toUpperCase()}.` : (problem?.fix ?? ''),
    })
  }
}

function describeFault(error: unknown) {
  return describeProblem(toFilesFault(error))
}

/** Asks for the deletion of a random id, which no entry has. */
async function checkDelete(files: FilesClient): Promise<Finding> {
  const check = 'delete'
  try {
    if (await files.canDelete('storage_a')) return ok(check, 'the key can delete')
    return warn(check, 'the key cannot delete', { fix: 'Use a read-write key if workflows delete files.' })
  } catch (error) {
    const problem = describeFault(error)
    return fail(check, problem?.message ?? 'unknown error', { fix: problem?.fix ?? '' })
  }
}

/** One finding for each key that has to wait because the service said so. */
export async function checkWaits(store: ReadStore, config: Config): Promise<Finding[]> {
  const blocked = await listBlockedKeys(store, config, commandClock.now())
  return blocked.map(({ account, key, until }) => {
    const found = `the service told the key ${key} to wait, and nothing is sent with it before ${isoTime(until)}`
    const fix = 'Its runs go on by themselves. If the service was wrong to ask for it, give the account another key.'
    return warn(`account ${account}`, found, { fix })
  })
}

const PROBE_WITHIN_MS = 10_000
/** Not an event: with a valid signature it is refused with 400, so nothing is stored or run. */
const PROBE = Buffer.from('{"probe":"upshot doctor"}')
/** The probe with other bytes, as an attacker could change a delivery in transit. */
const TAMPERED = Buffer.from('{"probe":"upshot d0ct0r"}')

/** The receiver of the running app, and the key of the marks on probes. */
interface Door {
  receiver: string
  probeKey: Uint8Array
  now: number
}

/**
 * Sends each endpoint of the running app a signed and a forged probe. The ledger lists both as
 * probes: they count as no refusal and raise no alarm.
 */
export async function checkEndpoints(store: ReadStore, door: Door): Promise<Finding[]> {
  const endpoints = await store.listEndpoints()
  if (endpoints.length === 0) {
    return [
      warn('endpoints', 'there is none, so no delivery can be accepted', {
        fix: 'Create one with "upshot endpoints add <name>".',
      }),
    ]
  }
  return Promise.all(endpoints.map((endpoint) => checkEndpoint(endpoint, door)))
}

async function checkEndpoint(endpoint: Endpoint, { receiver, probeKey, now }: Door): Promise<Finding> {
  const check = `endpoint ${endpoint.name}`
  if (endpoint.status !== 'active') return warn(check, `it is ${endpoint.status}: its deliveries are refused`)
  const secret = activeSecrets(endpoint, now).at(-1)
  if (secret === undefined) {
    return fail(check, 'none of its secrets is valid now', {
      fix: `Create a new secret with "upshot endpoints rotate ${endpoint.name}".`,
    })
  }
  const url = `${receiver}/hooks/${endpoint.path}`
  const signature = signBody(endpoint.scheme, secret, { id: 'evt_doctor', body: PROBE }, now)
  const headers = () => ({ ...signature, [PROBE_HEADER]: markProbe(probeKey, endpoint.path, now) })
  const signed = await post(url, headers(), PROBE)
  const forged = await post(url, headers(), TAMPERED)
  if (forged !== 401) {
    return fail(check, `a forged delivery was answered ${forged}, not 401`, { fix: 'Stop the app, and report this.' })
  }
  if (signed === 400) return ok(check, 'accepts its own signature, refuses a forged one')
  const fix =
    'See the reason with "upshot deliveries list --verdict probe"; the running app may have another secret or scheme.'
  return fail(check, `a delivery with its own signature was answered ${signed}`, { fix })
}

/** The HTTP status of the answer, or the name of the error. */
async function post(url: string, headers: Record<string, string>, body: Buffer<ArrayBuffer>): Promise<number | string> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal: AbortSignal.timeout(PROBE_WITHIN_MS),
    })
    await response.body?.cancel()
    return response.status
  } catch (error) {
    return error instanceof Error ? error.name : String(error)
  }
}
