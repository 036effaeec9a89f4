/** Of a started process: the path, and where temporary files and compiled code go; no settings. */
export const CHILD_ENVIRONMENT = pick(/^(PATH|TMPDIR|NODE_COMPILE_CACHE)$/)

/**
 * The variables that npm needs to reach a registry through a proxy or with certificates of its own.
 */
export const REGISTRY_ENVIRONMENT = pick(/^(npm_config_.*|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_.*)$/i)

function pick(names: RegExp): Record<string, string> {
  const chosen = Object.entries(process.env).filter(([name, value]) => names.test(name) && value !== undefined)
  return Object.fromEntries(chosen) as Record<string, string>
}
