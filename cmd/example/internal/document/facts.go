package document

// Facts is what templates may speak of.
type Facts struct {
	// Hostname is the short name of the machine.
	Hostname string `yaml:"hostname" protobuf:"1"`
	// FQDN is the hostname completed with the domain, or the hostname where there is no domain.
	FQDN string `yaml:"fqdn" protobuf:"2"`
	// OS is the operating system, as Go calls it: linux, darwin and so on.
	OS string `yaml:"os" protobuf:"3"`
	// Arch is the processor architecture, as Go calls it: amd64, arm64 and so on.
	Arch string `yaml:"arch" protobuf:"4"`
	// CPUs is the number of processors the control plane may use.
	CPUs int `yaml:"cpus" protobuf:"5"`
	// Kernel is the release of the kernel, or empty where it cannot be told.
	Kernel string `yaml:"kernel" protobuf:"6"`
	// MemoryMiB is the size of the main memory, or 0 where it cannot be told.
	MemoryMiB int `yaml:"memoryMiB" protobuf:"7"`
}
