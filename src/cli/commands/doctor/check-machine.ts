import { once } from 'node:events'
import { accessSync, chmodSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { processEnvironment } from '../../../project/config/environment.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { listUnknown } from '../../../project/config/variables.ts'
import { vaultKeyFile } from '../../../project/data-dir/data-files.ts'
import { findNetworkDisk } from '../../../project/data-dir/examine-data-dir.ts'
import { isKeyLost, readKey } from '../../../project/data-dir/open-store.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { describeProblem } from '../../terminal/problem.ts'
import { codeOf, type Finding, fail, ok, warn } from './finding.ts'

const MIN_NODE = 24

export function checkNode(version = process.versions.node): Finding {
  const major = Number.parseInt(version, 10)
  if (major >= MIN_NODE) return ok('node', `Node ${version}`)
  return fail('node', `Node ${version} is too old`, { fix: `Install Node ${MIN_NODE} or newer.` })
}

/** Variables that nothing reads: most are misspelt. */
export function checkVariables({ secretVariables = [] }: Config): Finding[] {
  return listUnknown(processEnvironment(), secretVariables).map(({ name, like }) =>
    warn('variable', `${name} is not known and does nothing`, { fix: like === null ? '' : `Did you mean ${like}?` }),
  )
}

/** Checks that the data directory is writable, and that nobody else can read its secrets. */
export function checkRights(config: Pick<Config, 'dataDir' | 'secretKey'>, root: string): Finding[] {
  return [checkDataDir(config.dataDir), ...checkKey(config), ...checkPrivate(join(root, '.env'), '.env', warn)]
}

function checkDataDir(dataDir: string): Finding {
  if (!existsSync(dataDir)) return ok('data directory', `${dataDir} will be created at the first start`)
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const fix = 'Make it readable and writable for this user, or name another one with UPSHOT_DATA_DIR.'
    return fail('data directory', `${dataDir} is not writable (${codeOf(error)})`, { fix })
  }
  if (!isOpenToOthers(dataDir)) return ok('data directory', `${dataDir} is writable`)
  return warn('data directory', `${dataDir} can be read by other users of this machine`, {
    fix: `chmod 700 ${dataDir}`,
    repair: { will: `make ${dataDir} accessible to its owner only`, perform: () => chmodSync(dataDir, 0o700) },
  })
}

function checkKey(config: Pick<Config, 'dataDir' | 'secretKey'>): Finding[] {
  const file = vaultKeyFile(config)
  if (isKeyLost(config)) {
    const fix = 'Put it back from its copy: without it, no secret in the database can be opened.'
    return [fail('key file', `${file} is missing`, { fix })]
  }
  try {
    readKey(config)
  } catch (error) {
    const { message, fix } = describeProblem(error) ?? {}
    return [fail('key file', message?.replace(/\.$/, '') ?? '', { fix: fix ?? '' })]
  }
  return checkPrivate(file, 'key file', fail)
}

/** No finding if the file does not exist. */
function checkPrivate(file: string, check: string, complain: typeof fail): Finding[] {
  if (!existsSync(file)) return []
  if (!isOpenToOthers(file)) return [ok(check, `${file} is readable by its owner only`)]
  return [
    complain(check, `${file} can be read by other users of this machine`, {
      fix: `chmod 600 ${file}`,
      repair: { will: `make ${file} readable by its owner only`, perform: () => chmodSync(file, 0o600) },
    }),
  ]
}

/** False on Windows, which has no such mode bits. */
function isOpenToOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
}

const WARN_FREE_BYTES = 1_000_000_000
const FAIL_FREE_BYTES = 100_000_000

/** Checks the disk: fails on another machine's, or below 100 MB; warns below 1 GB. */
export function checkDisk({ dataDir, database }: Pick<Config, 'dataDir' | 'database'>, root: string): Finding {
  const network = database ? null : findNetworkDisk(dataDir)
  if (network !== null) {
    return fail('disk', `${dataDir} is on a network file system (${network})`, {
      fix: 'The locks of SQLite do not hold there. Move the directory to a disk of this machine, or use PostgreSQL.',
    })
  }
  const { bavail, bsize } = statfsSync(existsSync(dataDir) ? dataDir : root)
  const free = bavail * bsize
  const found = `${formatBytes(free)} free for ${dataDir}`
  const fix = 'Free some space: on a full disk no delivery is accepted, and the service retries until it gives up.'
  if (free < FAIL_FREE_BYTES) return fail('disk', found, { fix })
  return free < WARN_FREE_BYTES ? warn('disk', found, { fix }) : ok('disk', found)
}

const PORT_VARIABLES = {
  receiver: 'UPSHOT_PORT',
  admin: 'UPSHOT_ADMIN_PORT',
  sandbox: 'UPSHOT_SANDBOX_PORT',
  sandboxDownload: 'UPSHOT_SANDBOX_DOWNLOAD_PORT',
} as const

/** Checks that the app's ports are free. Only while no app is running. */
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
      return fail(check, `cannot listen on ${port} (${fault})`, {
        fix: `End the program that uses it, or choose another port with ${PORT_VARIABLES[name]}.`,
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

export function checkWorkflows({ workflowsDir }: Pick<Config, 'workflowsDir'>): Finding[] {
  const fix = 'Create the folder with a module in it, as "upshot init" does, or set UPSHOT_WORKFLOWS_DIR.'
  try {
    const files = readdirSync(workflowsDir, { recursive: true }).map(String)
    const named = files.filter((file) => /\.workflow\.[cm]?[jt]sx?$/.test(file) && !file.includes('node_modules'))
    const isLoaded = (file: string) => /^[^\\/]+\.[jt]s$/.test(file)
    const modules = named.filter(isLoaded)
    const others = named.filter((file) => !isLoaded(file))
    const found = `${modules.length} in ${workflowsDir}`
    return [
      modules.length === 0 ? warn('workflows', found, { fix }) : ok('workflows', found),
      ...others.map((file) => warn('workflows', `${file} is not loaded`, { fix: NOT_LOADED })),
    ]
  } catch (error) {
    return [fail('workflows', `${workflowsDir} cannot be read (${codeOf(error)})`, { fix })]
  }
}

const NOT_LOADED = 'Move it into the folder itself, under a name that ends in .workflow.ts or .workflow.js.'
