/**
 * Rights of a caller of the admin API, least first. A viewer sees no values of payloads. An
 * operator also acts on runs, and an admin on endpoints, accounts and tokens.
 */
export const ACCESS_ROLES = ['viewer', 'operator', 'admin'] as const
export type AccessRole = (typeof ACCESS_ROLES)[number]

/** True when `role` has at least the rights of `least`. */
export function includesRole(role: AccessRole, least: AccessRole): boolean {
  return ACCESS_ROLES.indexOf(role) >= ACCESS_ROLES.indexOf(least)
}
