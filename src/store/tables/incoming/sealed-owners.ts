/** The vault owner of a key: its account and use. No endpoint id begins like this. */
export function accountOwner(account: string, use: 'key' | 'fallback'): string {
  return `account ${use} ${account}`
}

/** The vault owner of a capture: its own row. */
export function captureOwner(endpointId: string, id: string): string {
  return `capture ${endpointId} ${id}`
}

/** The owner that the vault binds a key of the chain to. */
export function sealKeyOwner(number: number | string): string {
  return `effect key ${number}`
}

/** The owner that the vault binds an approver to. */
export function approverOwner(number: number | string): string {
  return `approver ${number}`
}

/** The owner that the vault binds the secret of a hook to. */
export function hookOwner(id: string): string {
  return `hook ${id}`
}

/** The owner of the key that makes the tokens of hooks. */
export const HOOK_KEY_OWNER = 'hook key'
