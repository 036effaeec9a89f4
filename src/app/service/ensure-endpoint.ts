import { isA, UpshotError } from '../../core/errors.ts'
import {
  currentSecret,
  type Endpoint,
  planEndpoint,
  planRotation,
  SANDBOX_ENDPOINT,
  SERVICE_ENDPOINT,
} from '../../core/incoming/endpoint.ts'
import { SCHEME_PRESETS } from '../../core/incoming/signature.ts'
import type { Store } from '../../core/store/store.ts'
import type { Config } from '../../project/config/load-config.ts'

/** How long the former secret stays valid after the environment names a new one. */
const ROTATION_OVERLAP_MS = 24 * 3_600_000
/** The same where it goes back: another machine may have started with an older environment. */
const RETURN_OVERLAP_MS = 30 * 24 * 3_600_000

/**
 * Adds the endpoint of the sandbox or of the configured service, where there is none. A secret or
 * header that changed in the environment is written to it.
 */
export async function ensureEndpoint(
  store: Store,
  { service }: Pick<Config, 'service'>,
  now: number,
): Promise<Endpoint> {
  const name = service.kind === 'sandbox' ? SANDBOX_ENDPOINT : SERVICE_ENDPOINT
  const known = (await store.listEndpoints()).find((endpoint) => endpoint.name === name)
  if (service.kind === 'sandbox') return known ?? addEndpoint(store, planEndpoint({ name }, now))

  const { webhookSecret: secret } = service
  const header = service.signatureHeader ?? (known?.scheme ?? SCHEME_PRESETS.hex).header
  if (!known) return addEndpoint(store, planEndpoint({ name, secret, scheme: { ...SCHEME_PRESETS.hex, header } }, now))
  if (currentSecret(known) === secret && known.scheme.header === header) return known
  const isKnown = known.secrets.some(({ value }) => value === secret)
  const overlapMs = isKnown ? RETURN_OVERLAP_MS : ROTATION_OVERLAP_MS
  const rotated = currentSecret(known) === secret ? known : planRotation(known, secret, { overlapMs, now })
  const changed = { ...rotated, scheme: { ...known.scheme, header } }
  try {
    await store.updateEndpoint(changed)
    return changed
  } catch (error) {
    // Another process that started at the same time may have written the same.
    if (isA(error, UpshotError) && error.code === 'conflict') return ensureEndpoint(store, { service }, now)
    throw error
  }
}

/** Returns the endpoint of another process that started at the same time and added it first. */
async function addEndpoint(store: Store, endpoint: Endpoint): Promise<Endpoint> {
  try {
    await store.addEndpoint(endpoint)
    return endpoint
  } catch (error) {
    const known = (await store.listEndpoints()).find(({ name }) => name === endpoint.name)
    if (known) return known
    throw error
  }
}
