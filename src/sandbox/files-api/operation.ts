import { setTimeout as wait } from 'node:timers/promises'
import type { Request, RequestHandler, Response } from 'express'
import type { StorageName } from '../../core/service/storage.ts'
import { type ApiKey, type ApiKeys, type Permission, permits } from '../account/api-keys.ts'
import type { Audit } from '../account/audit.ts'
import { type RateLimiter, rateHeaders, secondsUntil } from '../account/rate-limiter.ts'
import { contradictRateHeaders, replaceReply, spoilBody } from '../faults/apply-fault.ts'
import type { Fault } from '../faults/fault-rule.ts'
import type { Faults } from '../faults/faults.ts'
import { ApiError, errorOfStatus, REFUSAL_ASSUMES, reportFailure, toWireError } from '../http/api-error.ts'
import { decideForm, type WireForm, withUnknownFields, wrapError } from '../http/wire-form.ts'
import type { Log } from '../options.ts'
import type { SandboxClock } from '../state/clock.ts'
import type { LiveSettings, Settings } from '../state/settings.ts'

type OperationName = 'files.list' | 'files.get' | 'files.download' | 'files.delete'

export interface Call {
  request: Request
  form: WireForm
  settings: Settings
  now: number
  /** Throws 403 unless the key's scope includes this storage. */
  requireStorage(storage: StorageName): void
}

export interface Operation {
  name: OperationName
  permission: Permission
  /** The open points of the specification (N1, N2 …) that a successful reply assumes. */
  assumes(form: WireForm): readonly string[]
  /** The form of an endpoint that has only one. Default: the `form` setting decides. */
  form?: WireForm
  run(call: Call): object
}

export interface OperationParts {
  keys: ApiKeys
  limiter: RateLimiter
  clock: SandboxClock
  settings: LiveSettings
  faults: Faults
  audit: Audit
  log: Log
  seed: number
}

/** A request with the reply under construction. */
interface Exchange {
  operation: Operation
  request: Request
  response: Response
  form: WireForm
  settings: Settings
  now: number
  keyId: string | null
}

interface Reply {
  status: number
  /** The error code; null on success. */
  code: string | null
  assumes: readonly string[]
  body: object
}

/**
 * Turns operations into request handlers. The checks run in this order: key (401), rate (429),
 * scope (403).
 */
export function createOperations(parts: OperationParts): (operation: Operation) => RequestHandler {
  return (operation) => async (request, response) => {
    const settings = parts.settings.get()
    const form = operation.form ?? decideForm(settings.form, parts.seed, parts.audit.requestCount())
    const fault = parts.faults.strike(operation.name)
    if (fault?.latencyMs) await wait(fault.latencyMs)
    if (response.destroyed) return
    const exchange = { operation, request, response, form, settings, now: parts.clock.now(), keyId: null }
    const reply = decideReply(parts, exchange, fault)
    const { status, code } = reply
    parts.audit.noteRequest(
      { operation: operation.name, keyId: exchange.keyId, status, code, faultId: fault?.id ?? null },
      exchange.now,
    )
    parts.log({ msg: 'request', operation: operation.name, key: exchange.keyId, status, fault: fault?.id ?? null })
    if (fault && replaceReply(response, fault)) return
    if (fault?.contradictRateHeaders) contradictRateHeaders(response, exchange.now)
    if (fault) spoilBody(response, fault)
    const body = settings.unknownFields ? withUnknownFields(reply.body) : reply.body
    response.set('X-Sandbox-Assumed', reply.assumes.join(',')).status(status).json(body)
  }
}

function decideReply(parts: OperationParts, exchange: Exchange, fault: Fault | null): Reply {
  const prevents = fault && !fault.afterwards && (fault.status || fault.reset || fault.html || fault.garbage)
  const reply = prevents ? null : perform(parts, exchange)
  if (fault?.status) return refuse(exchange, faultyStatus(exchange, fault.status))
  return reply ?? refuse(exchange, errorOfStatus(502))
}

function perform(parts: OperationParts, exchange: Exchange): Reply {
  try {
    const { name, permission, assumes, run } = exchange.operation
    const { request, form, settings, now } = exchange
    const key = authenticate(parts, exchange)
    exchange.keyId = key.id
    spendAllowance(parts, exchange, key)
    const requireStorage = (storage?: StorageName) => {
      if (permits(key.scope, permission, storage)) return
      throw new ApiError(403, 'permission_denied', `This key's scope does not cover ${name} here.`, { permission })
    }
    requireStorage()
    if (Number(request.query.limit ?? request.body?.limit) > 100) parts.audit.noteLimitOver100(key.id, now)
    const body = run({ request, form, settings, now, requireStorage })
    const onSuccess = settings.rateHeadersOnSuccess ? ['N16'] : []
    return { status: 200, code: null, assumes: ['N1', ...assumes(form), ...onSuccess], body }
  } catch (error) {
    reportFailure(parts.log, error)
    return refuse(exchange, error)
  }
}

function refuse({ form }: Exchange, error: unknown): Reply {
  const wire = toWireError(error)
  const assumes = wire.status === 429 ? ['N8', 'N13', 'N14', 'N15'] : REFUSAL_ASSUMES
  return { status: wire.status, code: wire.code, assumes, body: wrapError(form, wire) }
}

function authenticate({ keys, audit }: OperationParts, { request, now }: Exchange): ApiKey {
  const [, credential] = /^Bearer +(\S+)$/i.exec(request.get('authorization') ?? '') ?? []
  const key = credential === undefined ? undefined : keys.use(credential)
  if (key) return key
  if (credential !== undefined) audit.noteRefused(credential, now)
  throw errorOfStatus(401)
}

function spendAllowance(parts: OperationParts, { response, settings, now }: Exchange, key: ApiKey): void {
  parts.audit.noteCall(key.id, now)
  const allowance = parts.limiter.take(key.id, settings.plan, now)
  if (!allowance) return
  response.set(rateHeaders(allowance, settings, now))
  if (allowance.allowed) return
  parts.audit.noteLimited(key.id, now + secondsUntil(allowance.resetAt, now) * 1000)
  throw errorOfStatus(429)
}

/** The error of a fault with a `status`. A 429 gets the usual headers. */
function faultyStatus({ response, settings, now }: Exchange, status: number): ApiError {
  const allowance = { allowed: false, limit: 60, remaining: 0, resetAt: now + 1_000 }
  if (status === 429) response.set(rateHeaders(allowance, settings, now))
  return errorOfStatus(status)
}
