import type { Endpoint } from '../../../core/incoming/endpoint.ts'

export interface EndpointRow {
  id: string
  name: string
  path: string
  account: string
  events: string
  scheme: string
  status: Endpoint['status']
  created_at: number
  revision: number
}

export interface SecretRow {
  position: number
  sealed: Uint8Array
  active_from: number
  until: number | null
}
