/**
 * The place of a value in a body: the names from the root joined by dots, such as `file.size`. `[]`
 * stands for the items of a list, and `*` for any name. The root is the empty text.
 */
export type Place = string

export function belowName(place: Place, name: string): Place {
  return place === '' ? name : `${place}.${name}`
}

export function belowList(place: Place): Place {
  return `${place}[]`
}

/** The names and `[]` of a place, from the root on. */
export function splitPlace(place: Place): string[] {
  return place.match(/\[\]|[^.[\]]+/g) ?? []
}

/** The place of the object that has this one as a name; null for items, the root and any name. */
export function aroundPlace(place: Place): Place | null {
  if (place === '' || /(\[\]|\*)$/.test(place)) return null
  return place.slice(0, Math.max(0, place.lastIndexOf('.')))
}

/** Whether a place is within another one, and not the same. */
export function isWithin(place: Place, outer: Place): boolean {
  return place !== outer && (outer === '' || place.startsWith(`${outer}.`) || place.startsWith(`${outer}[`))
}
