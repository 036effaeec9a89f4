import { UpshotError } from '../../core/errors.ts'
import { processEnvironment } from '../../project/config/environment.ts'
import { readText } from '../input/read-source.ts'

/** The options of every command that name a server. */
export interface ServerChoice {
  server?: string | undefined
  tokenFile?: string | undefined
}

/** The admin server of an installation, and a token of it. */
export interface Server {
  /** With its base path. */
  url: string
  token: string
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** The address that `--server` or `UPSHOT_SERVER` names; null: the database of this machine. */
export function findAddressOfServer({ server }: ServerChoice): string | null {
  return server ?? (processEnvironment().UPSHOT_SERVER || null)
}

/** The server that options or environment name. Throws `invalid_config` for an unfit one. */
export function readServer(choice: ServerChoice): Server | null {
  const address = findAddressOfServer(choice)
  if (address === null) return null
  const tokenFile = choice.tokenFile ?? processEnvironment().UPSHOT_TOKEN_FILE
  if (!tokenFile)
    throw refuse(`No token is named for the server ${address}.`, 'Add --token-file, or set UPSHOT_TOKEN_FILE.')
  const token = readText(tokenFile).trim()
  if (!/^\S+$/.test(token))
    throw refuse(`The file ${tokenFile} holds no token.`, 'Put the token into it, and nothing else.')
  return { url: readAddress(address), token }
}

function readAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    `${url.username}${url.password}${url.search}${url.hash}` !== ''
  ) {
    throw refuse(`"${address}" is not the address of a server.`, 'Give one such as https://upshot.example.com.')
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname)) {
    const fix = 'Use https, or a tunnel such as: ssh -L 4701:127.0.0.1:4701 <host>'
    throw refuse(`Over http, anybody on the way to ${url.host} reads the token.`, fix)
  }
  return url.href.replace(/\/+$/, '')
}

function refuse(message: string, fix: string): UpshotError {
  return new UpshotError('invalid_config', message, { fix })
}
