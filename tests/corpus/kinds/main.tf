terraform {
  required_version = ">= 1.5"
}

provider "aws" {
  region = var.region
}

variable "region" {
  type    = string
  default = "eu-central-1"
}

locals {
  name_prefix = "tide-${var.region}"
  common_tags = { team = "harbour" }
}

data "aws_ami" "debian" {
  most_recent = true
}

resource "aws_instance" "gauge_server" {
  ami           = data.aws_ami.debian.id
  instance_type = "t3.micro"

  lifecycle {
    create_before_destroy = true
  }
}

module "tide_bucket" {
  source = "./bucket"
}

output "gauge_ip" {
  value = aws_instance.gauge_server.public_ip
}
