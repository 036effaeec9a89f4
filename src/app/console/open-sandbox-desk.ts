import type { SandboxDesk } from '../../admin/ports/surroundings.ts'
import { UpshotError } from '../../core/errors.ts'
import type { Config } from '../../project/config/load-config.ts'
import { readRuntimeFile } from '../../project/data-dir/runtime-file.ts'
import { askSandbox } from '../service/ask-sandbox.ts'
import type { EmbeddedSandbox } from '../service/embedded-sandbox.ts'

/** The control API of the sandbox of this process, or of another one on the same data directory. */
export function openSandboxDesk(
  { service, dataDir }: Pick<Config, 'service' | 'dataDir'>,
  embedded: () => EmbeddedSandbox | null,
): SandboxDesk {
  const url = () => embedded()?.sandbox.origin ?? readRuntimeFile(dataDir)?.sandbox?.origin ?? null
  return {
    url: () => (service.kind === 'sandbox' ? url() : null),
    async ask({ body, content, ...call }) {
      const origin = service.kind === 'sandbox' ? url() : null
      if (origin === null) {
        const why = service.kind === 'sandbox' ? 'No process of this data directory runs the sandbox.' : REAL
        throw new UpshotError('not_running', why)
      }
      const sent = body === undefined ? content : JSON.stringify(body)
      return (await askSandbox(origin, { ...call, body: sent })) as never
    },
  }
}

const REAL = 'This app works with the real service: there is no sandbox to control.'
