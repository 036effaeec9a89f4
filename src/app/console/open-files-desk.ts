import type { FilesDesk } from '../../admin/ports/files-desk.ts'
import type { Publish } from '../../core/notices.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { FilesClient } from '../../files/index.ts'
import type { Config } from '../../project/config/load-config.ts'
import { findAccess } from '../service/access-to.ts'
import type { Access } from '../service/account-clients.ts'
import type { EmbeddedSandbox } from '../service/embedded-sandbox.ts'
import { toFilesFault } from '../service/files-fault.ts'

interface FilesDeskParts {
  store: Store
  clock: Clock
  publish: Publish
  embedded: () => EmbeddedSandbox | null
}

/** The Files API for people. Its modules are loaded with the first question. */
export function openFilesDesk(config: Config, { embedded, ...parts }: FilesDeskParts): FilesDesk {
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
    list: (account, { storage: service, path, limit, page, token }, signal) =>
      ask(account, async (files) => {
        const place = { service, path, limit, sort: 'name', page, ...(token === null ? {} : { pageToken: token }) }
        const { items, nextPage, nextToken, totalItems } = await files.list(place, { signal })
        const isLast = nextPage === null && nextToken === null
        return { items, next: isLast ? null : { page: nextPage ?? page + 1, token: nextToken }, total: totalItems }
      }),
    get: (account, file, signal) => ask(account, (files) => files.get(file, { signal })),
    async *stream(account, file, signal) {
      const files = await ask(account, async (found) => found)
      try {
        yield* files.stream(file, { signal })
      } catch (error) {
        throw toFilesFault(error)
      }
    },
    async remove({ account, file, actor, reason }) {
      const [{ HandLedger }, { removeFile }] = await Promise.all([
        import('../service/hand-ledger.ts'),
        import('../service/remove-files.ts'),
      ])
      const ledger = new HandLedger(parts.store, { actor, reason, account }, parts.clock)
      return ask(account, (files) => removeFile({ files, ledger }, file))
    },
  }
}

async function openClients(config: Config, parts: Omit<FilesDeskParts, 'embedded'> & { defaultAccess: () => Access }) {
  const { AccountClients } = await import('../service/account-clients.ts')
  return new AccountClients({ ...parts, burst: config.files.burst, priority: 'background', random: Math.random })
}
