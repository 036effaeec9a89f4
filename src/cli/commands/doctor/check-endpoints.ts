import { activeSecrets, type Endpoint } from '../../../core/incoming/endpoint.ts'
import { markProbe, PROBE_HEADER } from '../../../core/incoming/probe-mark.ts'
import { signBody } from '../../../core/incoming/signature.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const ANSWER_WITHIN_MS = 10_000
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
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
    await response.body?.cancel()
    return response.status
  } catch (error) {
    return error instanceof Error ? error.name : String(error)
  }
}
