import { Link, useLocation } from 'wouter'
import { useApi } from '../../api/use-api.ts'
import { hrefOf, listFolders, type OneSide, type Place, STORAGES } from './place.ts'
import type { FolderQuery } from './use-folder.ts'

export function Storages({ side }: { side: OneSide }) {
  return (
    <nav className="tabs" aria-label="Storages">
      {STORAGES.map((storage) => (
        <Link
          key={storage}
          href={side.hrefWith({ storage, path: '/', file: '' })}
          aria-current={storage === side.storage ? 'true' : undefined}
        >
          {storage}
        </Link>
      ))}
    </nav>
  )
}

/** Only where there are several. */
export function AccountChoice({ place }: { place: Place }) {
  const [, go] = useLocation()
  const accounts = useApi('GET /accounts', {})
  const names = accounts.data?.items.map(({ name }) => name) ?? []
  if (names.length < 2) return null
  return (
    <select
      aria-label="Account"
      value={place.account}
      onChange={(event) =>
        go(hrefOf({ ...place, account: event.target.value, path: '/', file: '', beside: toRoot(place) }))
      }
    >
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  )
}

function toRoot({ beside }: Place): Place['beside'] {
  return beside && { ...beside, path: '/', file: '' }
}

export function Crumbs({ side }: { side: OneSide }) {
  const folders = listFolders(side.path)
  return (
    <nav aria-label="Folders above" className="crumbs wrap">
      <Link href={side.hrefWith({ path: '/', file: '' })}>{side.storage}</Link>
      {folders.map(({ name, path }) => (
        <span key={path}>
          {' / '}
          <Link href={side.hrefWith({ path, file: '' })} aria-current={path === side.path ? 'page' : undefined}>
            <bdi>{name}</bdi>
          </Link>
        </span>
      ))}
    </nav>
  )
}

export function ReadAgain({ folders }: { folders: readonly FolderQuery[] }) {
  return (
    <button
      type="button"
      onClick={() => void Promise.all(folders.map((folder) => folder.refetch()))}
      disabled={folders.some(({ isFetching }) => isFetching)}
    >
      Read again
    </button>
  )
}
