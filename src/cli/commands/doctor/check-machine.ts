import { once } from 'node:events'
import { accessSync, chmodSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Config } from '../../../project/config/load-config.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { codeOf, type Finding, fail, ok, warn } from './finding.ts'

const MIN_NODE = 24

export function checkNode(version = process.versions.node): Finding {
  const major = Number.parseInt(version, 10)
  if (major >= MIN_NODE) return ok('node', `Node ${version}`)
  return fail('node', `Node ${version} is too old`, { fix: `Install Node ${MIN_NODE} or newer.` })
}

/** Whether the data directory can be written, and who else may read what is secret in it. */
export function checkRights({ dataDir }: Pick<Config, 'dataDir'>, root: string): Finding[] {
  return [
    checkDataDir(dataDir),
    ...checkPrivate(join(dataDir, 'secret.key'), 'key file', fail),
    ...checkPrivate(join(root, '.env'), '.env', warn),
  ]
}

function checkDataDir(dataDir: string): Finding {
  if (!existsSync(dataDir)) return ok('data directory', `${dataDir} will be made at the first start`)
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const fix = 'Give this user the right to read and write it, or name another one with UPSHOT_DATA_DIR.'
    return fail('data directory', `${dataDir} cannot be written (${codeOf(error)})`, { fix })
  }
  if (!isOpenToOthers(dataDir)) return ok('data directory', `${dataDir} can be written`)
  return warn('data directory', `${dataDir} can be read by other users of this machine`, {
    fix: `chmod 700 ${dataDir}`,
    repair: { will: `close ${dataDir} to other users`, perform: () => chmodSync(dataDir, 0o700) },
  })
}

/** Nothing for a file that is not there. */
function checkPrivate(file: string, check: string, complain: typeof fail): Finding[] {
  if (!existsSync(file)) return []
  if (!isOpenToOthers(file)) return [ok(check, `${file} is for its owner only`)]
  return [
    complain(check, `${file} can be read by other users of this machine`, {
      fix: `chmod 600 ${file}`,
      repair: { will: `make ${file} readable by its owner only`, perform: () => chmodSync(file, 0o600) },
    }),
  ]
}

/** Windows keeps no such bits. */
function isOpenToOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
}

const LITTLE_BYTES = 1_000_000_000
const TOO_LITTLE_BYTES = 100_000_000

export function checkDisk({ dataDir }: Pick<Config, 'dataDir'>, root: string): Finding {
  const { bavail, bsize } = statfsSync(existsSync(dataDir) ? dataDir : root)
  const free = bavail * bsize
  const found = `${formatBytes(free)} free for ${dataDir}`
  const fix = 'Make room: what cannot be written is not acknowledged, and the service tries again until it gives up.'
  if (free < TOO_LITTLE_BYTES) return fail('disk', found, { fix })
  return free < LITTLE_BYTES ? warn('disk', found, { fix }) : ok('disk', found)
}

const PORT_VARIABLES = {
  receiver: 'UPSHOT_PORT',
  admin: 'UPSHOT_ADMIN_PORT',
  sandbox: 'UPSHOT_SANDBOX_PORT',
  sandboxDownload: 'UPSHOT_SANDBOX_DOWNLOAD_PORT',
} as const

/** Whether the app could listen where it is to. Not to be asked while it does. */
export async function checkPorts({
  host,
  ports,
  service,
}: Pick<Config, 'host' | 'ports' | 'service'>): Promise<Finding[]> {
  const names = Object.keys(PORT_VARIABLES) as (keyof typeof PORT_VARIABLES)[]
  const used = names.filter((name) => service.kind === 'sandbox' || !name.startsWith('sandbox'))
  return Promise.all(
    used.map(async (name) => {
      const port = ports[name]
      const check = `port ${name}`
      if (port === 0) return ok(check, 'any free one')
      const fault = await tryPort(name === 'receiver' ? host : '127.0.0.1', port)
      if (fault === null) return ok(check, `${port} is free`)
      return fail(check, `${port} cannot be listened on (${fault})`, {
        fix: `End what uses it, or choose another one with ${PORT_VARIABLES[name]}.`,
      })
    }),
  )
}

async function tryPort(host: string, port: number): Promise<string | null> {
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
    return null
  } catch (error) {
    return codeOf(error)
  } finally {
    server.close()
  }
}

export function checkWorkflows({ workflowsDir }: Pick<Config, 'workflowsDir'>): Finding {
  const fix = 'Make the folder and a module in it ("upshot init" shows how), or set UPSHOT_WORKFLOWS_DIR.'
  try {
    const modules = readdirSync(workflowsDir).filter((file) => /\.workflow\.[jt]s$/.test(file))
    const found = `${modules.length} in ${workflowsDir}`
    return modules.length === 0 ? warn('workflows', found, { fix }) : ok('workflows', found)
  } catch (error) {
    return fail('workflows', `${workflowsDir} cannot be read (${codeOf(error)})`, { fix })
  }
}
