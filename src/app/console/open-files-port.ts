import type { FilesPort } from '../../admin/ports/surroundings.ts'
import { describeError, type ErrorCode, UpshotError } from '../../core/errors.ts'
import type { Publish } from '../../core/notices.ts'
import { RetryAt } from '../../core/runs/retry.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type * as Files from '../../files/index.ts'
import type { FilesClient, Priority } from '../../files/index.ts'
import type { Config } from '../../project/config/load-config.ts'
import { findAccess } from '../service/access-to.ts'
import type { Access } from '../service/account-clients.ts'
import type { EmbeddedSandbox } from '../service/embedded-sandbox.ts'

interface FilesPortParts {
  /** Order of the calls that wait for the limit. Default `background`. */
  priority?: Priority
  store: Store
  clock: Clock
  publish: Publish
  embedded: () => EmbeddedSandbox | null
}

/** The Files API for people. Its modules are loaded with the first question. */
export function openFilesPort(config: Config, { embedded, ...parts }: FilesPortParts): FilesPort {
  let opening: ReturnType<typeof openClients> | null = null
  const clientOf = async (account: string) => {
    opening ??= openClients(config, { ...parts, defaultAccess: () => findAccess(config, embedded()) })
    return (await opening).clientOf(account)
  }
  const ask = <Answer>(account: string, question: (files: FilesClient) => Promise<Answer>) =>
    clientOf(account)
      .then(question)
      .catch((error: unknown) => {
        throw toFilesFault(error)
      })
  return {
    ask,
    async *stream(account, file, options) {
      const files = await ask(account, async (found) => found)
      try {
        yield* files.stream(file, options)
      } catch (error) {
        throw toFilesFault(error)
      }
    },
    async remove({ account, files: found, actor, reason }, { signal, tell }) {
      const { HandLedger, removeFiles } = await import('../service/remove-files.ts')
      const ledger = new HandLedger(parts.store, { actor, reason, account }, parts.clock)
      const onDone = (done: number) => tell({ done, total: found.length })
      return ask(account, (files) => removeFiles({ files, ledger }, found, { signal, onDone }))
    },
  }
}

async function openClients(config: Config, parts: Omit<FilesPortParts, 'embedded'> & { defaultAccess: () => Access }) {
  const { AccountClients } = await import('../service/account-clients.ts')
  return new AccountClients({ priority: 'background', ...parts, burst: config.files.burst, random: Math.random })
}

type FilesErrorName = Extract<keyof typeof Files, `${string}Error`>

/** Keyed by name, so that nobody loads the client only for its errors. */
const CODES: Record<FilesErrorName, readonly [code: ErrorCode, fix: string | null]> = {
  FilesError: ['service_failed', null],
  AuthenticationError: ['key_refused', 'Set a valid API key: the service rejects the one of this account.'],
  PermissionError: ['key_refused', 'Use an API key whose scope covers this call.'],
  InvalidRequestError: ['invalid_request', null],
  NotFoundError: ['not_found', 'List the parent folder: it may have been moved or deleted.'],
  RateLimitError: ['too_many_requests', 'Wait until the service accepts calls again.'],
  LocalRateLimitError: [
    'too_many_requests',
    'Workflows share the limit of the account: wait until it allows one more call.',
  ],
  UpstreamError: ['service_failed', null],
  ServerError: ['service_failed', null],
  ProtocolError: ['service_failed', 'Check the address of the service: it does not answer like the Files API.'],
  ConnectionError: ['service_failed', 'Check the address of the service and the network.'],
  TimeoutError: ['service_failed', null],
  StalledError: ['service_failed', null],
  AbortedError: ['draining', null],
}

/** The same fault as an error of ours. One that is no fault of a call stays as it is. */
export function toFilesFault(error: unknown): unknown {
  if (error instanceof RetryAt) {
    return new UpshotError('service_failed', error.message, { details: { retryAt: error.moment } })
  }
  if (!(error instanceof Error) || !Object.hasOwn(CODES, error.name)) return error
  const [code, fix] = CODES[error.name as FilesErrorName]
  const retryAt = 'retryAt' in error && typeof error.retryAt === 'number' ? { retryAt: error.retryAt } : {}
  const details = { ...(fix === null ? {} : { fix }), ...retryAt }
  return new UpshotError(code, describeError(error).message, { cause: error, details })
}
