// Allowed values of the search parameters of the Symbols page.

export const FILE_KINDS = ["dsym", "elf", "dart", "mapping", "source_map", "script"] as const;
export type FileKind = (typeof FILE_KINDS)[number];

export const PLATFORMS = ["web", "ios", "flutter", "android", "native"] as const;
export type Platform = (typeof PLATFORMS)[number];
